// Command conformance puts every question of the conformance corpus to a policy's core module in wazero and prints one answer
// a line, as JSON.
//
//	conformance CORE_MODULE CORPUS_FOLDER
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero"
)

const evaluateExport = "zonewarden:policy/json@0.1.0#evaluate"

// filedCase is one case of a corpus file: request holds JSON, requestText any text.
type filedCase struct {
	Name        string          `json:"name"`
	Request     json.RawMessage `json:"request"`
	RequestText *string         `json:"request_text"`
}

// answer is what the policy said.
type answer struct {
	Function string `json:"function"`
	Name     string `json:"name"`
	Outcome  string `json:"outcome"`
	Answer   string `json:"answer"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: conformance CORE_MODULE CORPUS_FOLDER")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, modulePath, corpus string) error {
	binary, err := os.ReadFile(modulePath)
	if err != nil {
		return err
	}
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	module, err := runtime.CompileModule(ctx, binary)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(corpus, "*.json"))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, file := range files {
		cases, err := load(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, filed := range cases {
			request, err := filed.text()
			if err != nil {
				return fmt.Errorf("%s: %s: %w", file, filed.Name, err)
			}
			told, err := evaluate(ctx, runtime, module, request)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", file, filed.Name, err)
			}
			told.Function = strings.TrimSuffix(filepath.Base(file), ".json")
			told.Name = filed.Name
			if err := encoder.Encode(told); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func load(file string) ([]filedCase, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var cases []filedCase
	return cases, json.Unmarshal(text, &cases)
}

func (filed filedCase) text() ([]byte, error) {
	if filed.RequestText != nil {
		return []byte(*filed.RequestText), nil
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, filed.Request)
	return compact.Bytes(), err
}

// evaluate drives the canonical ABI of `func(string) -> result<string, string>`: the text is written to memory that the module
// allocated; the answer is a pointer to a tag byte, and to pointer and length of a text four and eight bytes further. Each
// question gets an instance of its own.
func evaluate(ctx context.Context, runtime wazero.Runtime, module wazero.CompiledModule, request []byte) (answer, error) {
	instance, err := runtime.InstantiateModule(ctx, module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return answer{}, err
	}
	defer instance.Close(ctx)
	memory := instance.Memory()
	allocated, err := instance.ExportedFunction("cabi_realloc").Call(ctx, 0, 0, 1, uint64(len(request)))
	if err != nil {
		return answer{}, err
	}
	if !memory.Write(uint32(allocated[0]), request) {
		return answer{}, errors.New("cabi_realloc answered a place outside of the memory")
	}
	results, err := instance.ExportedFunction(evaluateExport).Call(ctx, allocated[0], uint64(len(request)))
	if err != nil {
		return answer{}, err
	}
	at := uint32(results[0])
	tag, tagOk := memory.ReadByte(at)
	pointer, pointerOk := memory.ReadUint32Le(at + 4)
	length, lengthOk := memory.ReadUint32Le(at + 8)
	text, textOk := memory.Read(pointer, length)
	if !tagOk || !pointerOk || !lengthOk || !textOk {
		return answer{}, errors.New("the answer lies outside of the memory")
	}
	told := answer{Outcome: "ok", Answer: string(text)}
	if tag != 0 {
		told.Outcome = "err"
	}
	_, err = instance.ExportedFunction("cabi_post_"+evaluateExport).Call(ctx, results[0])
	return told, err
}
