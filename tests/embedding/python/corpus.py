"""The conformance corpus, as every leg of this folder reads it."""

import json
import sys
from pathlib import Path


def cases(folder):
    """Gives function, name and the filed case, file after file in the order of their names."""
    for file in sorted(Path(folder).glob("*.json")):
        for case in json.loads(file.read_text(encoding="utf-8")):
            yield file.stem, case["name"], case


def compact(value):
    """The JSON of a value without white space, in the value's own order, as the policy writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tell(function, name, outcome, answer):
    """Prints one answer as a line of JSON, in UTF-8 whatever the locale."""
    line = compact({"function": function, "name": name, "outcome": outcome, "answer": answer})
    sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
