"""Puts every question of the conformance corpus to a policy's core module and prints one answer a line, as JSON.

    python core_module.py CORE_MODULE CORPUS_FOLDER
"""

import sys

from corpus import cases, compact, tell
from wasmtime import Engine, Instance, Module, Store

EVALUATE = "zonewarden:policy/json@0.1.0#evaluate"


def evaluate(engine, module, request):
    """Drives the canonical ABI of `func(string) -> result<string, string>` on an instance of its own.

    The text is written to memory that the module allocated; the answer is a pointer to a tag byte, and to pointer and length
    of a text four and eight bytes further.
    """
    store = Store(engine)
    exports = Instance(store, module, []).exports(store)
    memory = exports["memory"]
    text = request.encode("utf-8")
    at = exports["cabi_realloc"](store, 0, 0, 1, len(text))
    memory.write(store, text, at)
    answer = exports[EVALUATE](store, at, len(text))
    tag = memory.read(store, answer, answer + 1)[0]
    pointer = int.from_bytes(memory.read(store, answer + 4, answer + 8), "little")
    length = int.from_bytes(memory.read(store, answer + 8, answer + 12), "little")
    told = bytes(memory.read(store, pointer, pointer + length)).decode("utf-8")
    exports["cabi_post_" + EVALUATE](store, answer)
    return ("ok" if tag == 0 else "err"), told


def main(module_path, folder):
    engine = Engine()
    module = Module.from_file(engine, module_path)
    for function, name, case in cases(folder):
        request = case["request_text"] if "request_text" in case else compact(case["request"])
        tell(function, name, *evaluate(engine, module, request))


if __name__ == "__main__":
    main(*sys.argv[1:])
