/** Random well-formed XML documents, as text, for the property tests of reading and of the round trip. */
import fc from '../fast-check.ts'

type Element = { name: string; attributes: Record<string, string>; parts: string[]; children: Element[] }

const CHARACTERS = ['a', 'b', '1', ' ', '\n', '\t', '\r', '&', '<', '>', '"', "'", ']', 'ü', '😀', '\u00A0', '.']
const text = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 8 })

const references: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&#x3E;', '"': '&#34;' }
const escaped = (value: string): string =>
  value
    .replace(/[&<>"]/g, (character) => references[character] ?? '')
    .replace(/[\t\r\n]/g, (c) => `&#${c.charCodeAt(0)};`)

/** Text, CDATA that starts with a letter, comments and instructions. */
const part = fc.oneof(
  text.map(escaped),
  text.map((value) => `<![CDATA[c${value.replace(/[\r\]]/g, '')}]]>`),
  fc.constantFrom('<!-- -a- <b> & -->', '<?pi a ? > b?>', '\n  ', '  '),
)

function serialise({ name, attributes, parts, children }: Element): string {
  const start = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`)
  const content = children.map((child, index) => (parts[index] ?? '') + serialise(child)).join('')
  const rest = parts.slice(children.length).join('')
  return content + rest === '' ? `<${name}${start.join('')}/>` : `<${name}${start.join('')}>${content}${rest}</${name}>`
}

function element(names: readonly string[], levels: number): fc.Arbitrary<Element> {
  const attribute = fc.tuple(fc.constantFrom(...names), text)
  return fc.record({
    name: fc.constantFrom(...names),
    attributes: fc.uniqueArray(attribute, { maxLength: 2, selector: ([name]) => name }).map(Object.fromEntries),
    parts: fc.array(part, { maxLength: 2 }),
    children: levels === 1 ? fc.constant([]) : fc.array(element(names, levels - 1), { maxLength: 3 }),
  })
}

/** Documents whose element and attribute names are among `names`, up to four levels deep. */
export function xmlDocuments(names: readonly string[]): fc.Arbitrary<string> {
  const before = fc.constantFrom('', '<?xml version="1.0"?>', '<!-- a -->\n', '\n')
  const after = fc.constantFrom('', '\n', '<!-- z -->')
  return fc.tuple(before, element(names, 4), after).map(([prolog, root, epilog]) => prolog + serialise(root) + epilog)
}
