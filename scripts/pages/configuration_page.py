"""gateway.yaml(5)"""
import documents
import roff
import schema


def write(gateway):
    page = roff.Page("gateway.yaml", 5, gateway.version)
    page.name("gateway.yaml", "configuration of gateway(1)")
    page.heading("Synopsis")
    page.paragraph("`/etc/gateway/gateway.yaml`, or the FILE of `gateway --config`")
    page.heading("Description")
    page.paragraph(documents.paragraph("docs/configuration.md", "The gateway reads one YAML file."))
    page.paragraph("The smallest useful file:")
    page.example(documents.block("docs/configuration.md", "yaml", "listeners:"))
    page.heading("Values")
    for rule in documents.rules("docs/configuration.md", "## Rules of the file"):
        page.paragraph(rule)
    page.heading("Keys")
    page.paragraph("NAME stands for a name of your own, `[]` for each element of a list.")
    for name, key, keys in schema.Schema(gateway.schema).sections():
        page.subheading(name or "Process")
        if key:
            page.paragraph(f"{roff.sentence(key.description)} {_facts(key)}")
        for one in keys:
            page.item(f"`{one.path}`", _facts(one), *([roff.sentence(one.description)] if one.description else []))
    page.heading("Files")
    page.item("`/usr/share/gateway/gateway.schema.json`", "The JSON Schema of the file, for editors.")
    page.item("`/usr/share/doc/gateway/gateway.yaml.example`", "A file with every key, which runs as it stands.")
    page.item("`/usr/share/doc/gateway/docs/configuration.md`", "What the keys mean together.")
    page.heading("Examples")
    page.paragraph("Each address has a bucket of 20 tokens that fills at 100 a minute:")
    page.example(documents.block("docs/recipes.md", "yaml", "burst: 20"))
    page.paragraph("Behind a load balancer:")
    page.example(documents.block("docs/recipes.md", "yaml", "trusted_proxies: [10.0.0.0/8]"))
    page.paragraph("A limit for each API key, and one for each address beside it:")
    page.example(documents.block("docs/recipes.md", "yaml", "per_address:"))
    page.heading("See also")
    page.paragraph("`gateway`(1)")
    return page.text()


def _facts(key):
    """Type, range and default, as one sentence."""
    facts = [key.type[:1].upper() + key.type[1:]]
    if key.range and key.range not in key.type:
        facts.append(key.range)
    if key.required:
        facts.append("required")
    elif key.default:
        facts.append(f"default {key.default if '`' in key.default else '`' + key.default + '`'}")
    return ", ".join(facts) + "."
