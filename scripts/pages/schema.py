"""The keys of the configuration, read from its JSON Schema."""
import dataclasses
import json

# Forms of texts that have a name, by a part of their pattern.
FORMS = (
    ("(KiB|", "size"), ("[smhdw]|mo)$", "rate"), ("(ms|s|m|h|d)$", "time"), ("%$", "percentage"),
    ("}/[1-9]", "fraction"))


@dataclasses.dataclass
class Key:
    path: str
    type: str
    range: str
    default: str
    required: bool
    description: str


class Schema:
    def __init__(self, text):
        self._root = json.loads(text)

    def sections(self):
        """[(name, description, [Key])]: first the keys that are no section, with an empty name."""
        plain, sections = [], []
        everywhere = self._root["else"].get("required", [])
        for name, node in self._root["properties"].items():
            key = self._key(name, node, name in everywhere)
            inner = list(self._below(name, node))
            if inner:
                sections.append((name, key, inner))
            else:
                plain.append(key)
        return [("", None, plain), *sections]

    def _forms(self, node):
        """The alternatives that a value has, without `{ env: … }` and `{ file: … }`."""
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            return [] if name == "elsewhere" else self._forms(self._root["$defs"][name])
        if "if" in node:
            then = {**node["then"]}
            if "type" in node["if"] and "$ref" not in then:
                then.setdefault("type", node["if"]["type"])
            return self._forms(then) + self._forms(node["else"])
        return [node]

    def _below(self, path, node):
        forms = self._forms(node)
        # A list of mappings says all of the mapping that may stand alone.
        for form in [f for f in forms if "items" in f] or forms:
            required = form.get("required", [])
            for name, inner in form.get("properties", {}).items():
                if isinstance(inner, dict):
                    below = f"{path}.{name}"
                    yield self._key(below, inner, name in required)
                    yield from self._below(below, inner)
            if "items" in form:
                yield from self._below(path + "[]", form["items"])
            if isinstance(form.get("additionalProperties"), dict):
                yield from self._below(path + ".NAME", form["additionalProperties"])

    def _key(self, path, node, required):
        forms = self._forms(node)
        comment, _, words = node.get("$comment", "").partition("default ")
        defaults = [f["default"] for f in [node, *forms] if "default" in f]
        default = words or (_written(defaults[0]) if defaults else "")
        limits = comment.removesuffix("; ") or next(filter(None, map(_range, forms)), "")
        return Key(path, self._types(forms), limits, default, required, node.get("description", ""))

    def _types(self, forms):
        kinds = dict.fromkeys(self._type(form) for form in forms)
        lists = [kind for kind in kinds if kind.startswith("list of")]
        alone = [kind for kind in kinds if kind not in lists]
        return " or ".join(alone) + ", or a list of them" if lists and alone else " or ".join(kinds)

    def _type(self, form):
        if "enum" in form:
            return "one of " + ", ".join(f"`{_written(value)}`" for value in form["enum"])
        if "const" in form:
            return f"`{form['const']}`"
        kind = form.get("type", "mapping" if "properties" in form else "text")
        if isinstance(kind, list):
            kind = "string" if "string" in kind else kind[0]
        if kind == "array":
            items = [self._type(one) for one in self._forms(form["items"])]
            return "list of " + " or ".join(dict.fromkeys(_plural(item) for item in items))
        if kind == "object":
            inner = form.get("additionalProperties")
            if isinstance(inner, dict) and "properties" not in inner:
                return "mapping from names to " + " or ".join(dict.fromkeys(_plural(self._type(f)) for f in self._forms(inner)))
            return "mappings by name" if isinstance(inner, dict) else "mapping"
        pattern = form.get("pattern", "")
        named = next((name for part, name in FORMS if part in pattern), "text")
        return named if kind == "string" else kind


def _plural(kind):
    if kind.startswith("list of"):
        return "lists" + kind.removeprefix("list")
    return kind if kind.startswith("one of") else kind + "s"


def _written(value):
    return json.dumps(value) if isinstance(value, (bool, int, list, dict)) else str(value)


def _range(form):
    if "minimum" in form and "maximum" in form:
        return f"{form['minimum']} to {form['maximum']}"
    return f"at most {form['maxItems']}" if "maxItems" in form else ""
