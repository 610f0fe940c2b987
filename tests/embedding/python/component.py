"""Puts the questions of the conformance corpus to a policy's component by its typed interfaces and prints one answer a line.

    python component.py COMPONENT CORPUS_FOLDER

The values are built and read by the types that the component itself declares, so nothing here knows a record of the contract.
`json` is typed too, as text, and gets every question of its own corpus file.
"""

import sys

from corpus import cases, compact, tell
from wasmtime import Config, Engine, Store
from wasmtime.component import (
    Component,
    EnumType,
    Linker,
    ListType,
    OptionType,
    Record,
    RecordType,
    ResultType,
    Variant,
    VariantType,
)

PACKAGE = "zonewarden:policy"
VERSION = "0.1.0"


def snake(name):
    """The name of a field or parameter in JSON."""
    return name.replace("-", "_")


def camel(name):
    """The name of a case in JSON."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("-"))


def classes(ty):
    """The Python classes that a case's payload may have; `object` stands for no payload."""
    if ty is None:
        return {object}
    found = set()
    ty.add_classes(found)
    return found


def is_tagged(types):
    """Whether wasmtime hands a variant over as a Variant: where the payload's Python class alone does not tell the case."""
    seen = set()
    for ty in types:
        if classes(ty) & seen:
            return True
        seen |= classes(ty)
    return False


def lower(ty, value):
    """Makes what wasmtime takes for a type out of JSON."""
    if isinstance(ty, RecordType):
        record = Record()
        for name, field in ty.fields:
            setattr(record, name, lower(field, value.get(snake(name))))
        return record
    if isinstance(ty, ListType):
        return [lower(ty.element, element) for element in value]
    if isinstance(ty, OptionType):
        inner = None if value is None else lower(ty.payload, value)
        if not is_tagged([None, ty.payload]):
            return inner
        return Variant("none") if value is None else Variant("some", inner)
    if isinstance(ty, EnumType):
        return next(name for name in ty.names if camel(name) == value)
    if isinstance(ty, VariantType):
        case, payload = (value, None) if isinstance(value, str) else next(iter(value.items()))
        tag, inner = next((name, inner) for name, inner in ty.cases if camel(name) == case)
        lowered = None if inner is None else lower(inner, payload)
        return Variant(tag, lowered) if is_tagged([inner for _, inner in ty.cases]) else lowered
    return value


def lift(ty, value):
    """Makes JSON out of what wasmtime gives for a type."""
    if isinstance(ty, RecordType):
        return {snake(name): lift(field, getattr(value, name)) for name, field in ty.fields}
    if isinstance(ty, ListType):
        return [lift(ty.element, element) for element in value]
    if isinstance(ty, OptionType):
        tag, inner = untag([("none", None), ("some", ty.payload)], value)
        return None if tag == "none" else lift(ty.payload, inner)
    if isinstance(ty, EnumType):
        return camel(value)
    if isinstance(ty, VariantType):
        tag, inner = untag(ty.cases, value)
        payload = dict(ty.cases)[tag]
        return camel(tag) if payload is None else {camel(tag): lift(payload, inner)}
    return value


def untag(cases_of, value):
    """The case and the payload of a variant's value."""
    if is_tagged([ty for _, ty in cases_of]):
        return value.tag, value.payload
    wanted = object if value is None else type(value)
    for tag, ty in cases_of:
        if wanted in classes(ty):
            return tag, value
    raise TypeError(f"{value!r} is of no case of {cases_of!r}")


def call(engine, component, function, arguments):
    """Calls one function of the contract on an instance of its own; `arguments` are by the names that JSON has."""
    store = Store(engine)
    instance = Linker(engine).instantiate(store, component)
    interface, name = function.split(".")
    exported = instance.get_export_index(store, f"{PACKAGE}/{interface}@{VERSION}")
    func = instance.get_func(store, instance.get_export_index(store, name, exported))
    ty = func.type(store)
    lowered = [lower(parameter, arguments.get(snake(parameter_name))) for parameter_name, parameter in ty.params]
    answer = func(store, *lowered)
    if not isinstance(ty.result, ResultType):
        return "ok", lift(ty.result, answer)
    outcomes = [("ok", ty.result.ok), ("err", ty.result.err)]
    tag, inner = untag(outcomes, answer)
    return tag, lift(dict(outcomes)[tag], inner)


def main(component_path, folder):
    config = Config()
    config.wasm_component_model = True
    engine = Engine(config)
    component = Component.from_file(engine, component_path)
    for function, name, case in cases(folder):
        if function == "json.evaluate":
            request = case["request_text"] if "request_text" in case else compact(case["request"])
            tell(function, name, *call(engine, component, function, {"request": request}))
        else:
            outcome, answer = call(engine, component, function, case["request"]["arguments"])
            tell(function, name, outcome, compact(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
