/** Writes docs/endpoint-document.md from the schema of the endpoint document. `--check` compares instead. */
import { fileURLToPath } from 'node:url'
import type { Json } from '../src/core/json.ts'
import { EndpointField } from '../src/document/schema/schema.ts'
import type { Field } from '../src/document/schema/schema-fields.ts'
import { generate, generatedBy } from './generated.ts'

const INTRODUCTION = `${generatedBy('scripts/docs-endpoint.ts')}
# The endpoint document

An endpoint is one JSON document. This page lists each of its fields; **required** ones have no default. A default in
_italics_ applies if the field is left out, but is not written into the stored document. Any other default is filled in when
the document is stored, and is part of it from then on.

A document is checked as a whole before it is stored. One answer lists every fault with its path: names joined by dots,
elements of an array as \`[0]\` or \`.0\`, a dot within a name as \`\\.\`. A field that is not listed here is refused.

The service sets \`_id\`, \`createdAt\`, \`updatedAt\` and \`__v\`. It ignores them in a document that is sent, so a document that
was read can be changed and sent back.

Documents that an openhim-mediator-mapping returned are accepted too. These fields are ignored and not stored: \`_id\` in
\`requests\` and in each request, \`forEach: {}\`, \`params: {}\`, \`allowedStatuses: []\`, a \`prefix\` or \`postfix\` of null. Two
more are ignored with a warning: \`forwardExistingRequestBody\` in a response request, and a parameter written directly in
\`params\` instead of \`params.query\` or \`params.url\`.

The smallest document:

\`\`\`json endpoint
{
  "name": "Patient intake",
  "endpoint": { "pattern": "/patients" },
  "transformation": { "input": "JSON", "output": "JSON" }
}
\`\`\`
`

type Section = { paths: string[]; field: Field }

/** Every object with fields, in the order of the document; the same object at two paths is one section. */
function sectionsOf(field: Field, path: string, sections: Section[]): Section[] {
  if (field.properties) {
    const known = sections.find((section) => shown(section.field) === shown(field))
    if (known) known.paths.push(path)
    else sections.push({ paths: [path], field })
    for (const [name, property] of Object.entries(field.properties)) {
      sectionsOf(property, path === '' ? name : `${path}.${name}`, sections)
    }
  }
  // Of a text or an object, the object.
  const ofObject = field.anyOf?.find(({ properties }) => properties !== undefined)
  if (ofObject) sectionsOf(ofObject, path, sections)
  if (field.items) sectionsOf(field.items, `${path}[]`, sections)
  if (typeof field.additionalProperties === 'object') sectionsOf(field.additionalProperties, `${path}.<name>`, sections)
  return sections
}

/** When a path is read differs between the two kinds of requests, and is not on the page. */
const shown = (field: Field): string =>
  JSON.stringify(field, (name, value: unknown) => (name === 'reads' || name === 'evaluates' ? '' : value))

const code = (value: Json): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``

/** A cell of a table: a bar would end it. */
const cell = (text: string): string => text.replaceAll('|', '\\|')

function typeOf(field: Field): string {
  if (field.enum) return field.enum.map((value) => code(value)).join(' ')
  if (field.expects) return field.expects.replace(/^an? /, '')
  if (field.type === 'array') return field.single ? 'array of objects, or one object' : 'array'
  if (field.type === 'integer') return `whole number, ${field.minimum} to ${field.maximum}`
  if (typeof field.additionalProperties !== 'object') return field.type ?? ''
  const { type, anyOf = [] } = field.additionalProperties
  return `object of ${type === undefined ? anyOf.map((one) => `${one.type}s`).join(' or ') : `${type}s`} by name`
}

function defaultOf(field: Field, required: boolean): string {
  if (field.default !== undefined) return code(field.default)
  if (field.assumed !== undefined) return `_${field.assumed}_`
  return required ? '**required**' : ''
}

function row(name: string, field: Field, required: boolean): string {
  const [example] = field.examples ?? []
  const cells = [
    `\`${name}\``,
    typeOf(field),
    defaultOf(field, required),
    field.description ?? '',
    example === undefined ? '' : code(example),
  ]
  return `| ${cells.map(cell).join(' | ')} |\n`
}

const IN_REQUEST = /^requests\.\w+\[\]\./

const listed = (names: readonly string[]): string =>
  names.length === 1 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** Parts of both kinds of requests are named once, by their path within the request. */
function titleOf(paths: readonly string[]): string {
  if (paths[0] === '') return 'The document'
  if (paths.length === 1) return `\`${paths[0]}\``
  const [within, others] = [true, false].map((isWithin) =>
    paths.filter((path) => IN_REQUEST.test(path) === isWithin).map((path) => `\`${path.replace(IN_REQUEST, '')}\``),
  ) as [string[], string[]]
  if (within.length === 0) return listed(others)
  const ofRequests = `${listed([...new Set(within)])} of any request`
  return others.length === 0 ? ofRequests : `${ofRequests}, and ${listed(others)}`
}

function table({ paths, field }: Section): string {
  const rows = Object.entries(field.properties ?? {}).map(([name, property]) =>
    row(name, property, field.required?.includes(name) ?? false),
  )
  const head = '| field | type | default | meaning | example |\n|---|---|---|---|---|\n'
  return `\n## ${titleOf(paths)}\n\n${field.description ?? ''}\n\n${head}${rows.join('')}`
}

const sections = sectionsOf(EndpointField, '', [])

generate([
  {
    path: fileURLToPath(new URL('../docs/endpoint-document.md', import.meta.url)),
    text: INTRODUCTION + sections.map(table).join(''),
  },
])
