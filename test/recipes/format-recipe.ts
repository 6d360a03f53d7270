/** A format of lines `key: value`. */
import type { Recipe } from './recipe.ts'

export const addFormat: Recipe = {
  edits: [
    {
      folder: 'src',
      anchor: 'xml: XML_CODEC',
      insert: ', lines: LINES_CODEC',
      where: 'after',
      imports: 'LINES_CODEC',
    },
    {
      folder: 'test',
      anchor: '} as const satisfies Readonly<Record<Key,',
      insert: `  lines: {
    bodies: {
      'cut short': { body: 'secret', says: /line 1/ },
      'of another format': { body: '{"secret":1}', says: /line 1/ },
      'nothing but white space': { body: ' ', says: /line 1/ },
      'not valid in its charset': { body: Buffer.of(0xff), says: /utf-8/ },
      'of 65 levels': { body: \`a: \${brackets(65)}\`, says: levels },
      'of 100,000 levels': { body: \`a: \${brackets(100_000)}\`, says: levels },
      'of 100,000 levels, cut short': { body: \`a: \${'['.repeat(100_000)}\`, says: levels },
    },
    outputs: {
      'with a space in a key': { output: { 'a b': 1 }, says: /a key has letters/ },
      'with an empty key': { output: { '': 1 }, says: /a key has letters/ },
      'with a control character': 'written',
    },
  },
`,
      where: 'before',
    },
    { folder: 'docs', anchor: '| `XML` | any XML: ', insert: '| `LINES` | `text/x-lines` |\n', where: 'before' },
    {
      folder: 'docs',
      anchor: '| `JSON+OPENHIM` | `application/json+openhim` |\n',
      insert: '| `LINES` | `text/x-lines` |\n',
      where: 'after',
    },
  ],
  files: [
    {
      folder: 'src',
      beside: 'export const XML_CODEC = {',
      name: 'lines-codec.ts',
      text: (from) => `import { isObject, type Json } from '../domain/json.ts'
import { Unreadable, Unwritable } from '${from('Unreadable')}'
import type { Codec } from './codec.ts'
import { JSON_CODEC } from '${from('JSON_CODEC')}'
import { parseJson } from '${from('parseJson')}'
import { decodeText } from '${from('decodeText')}'

export const LINES_CODEC = {
  ...JSON_CODEC,
  name: 'LINES',
  mediaType: 'text/x-lines',
  profiles: {},
  aliases: [],
  suffix: undefined,
  accept: 'text/x-lines, application/json;q=0.9, */*;q=0.8',
  read: (bytes, charset) => {
    const text = decodeText(bytes, charset)
    return text === '' ? {} : Object.fromEntries(text.split('\\n').map(readLine))
  },
  detect: () => undefined,
  build,
  buildFailure: build,
  nullBody: undefined,
  rewrite: () => undefined,
  keyFault: (key) => (/^\\w+$/.test(key) ? undefined : \`"\${key}" cannot be a key of a line; choose another.\`),
} as const satisfies Codec

function readLine(line: string, index: number): [string, Json] {
  const [, key, text] = /^(\\w+): (.*)$/.exec(line) ?? []
  if (key === undefined || text === undefined) throw new Unreadable('malformed', \`There is no key at line \${index + 1}.\`)
  return [key, parseJson(text)]
}

function build(value: Json): string {
  if (!isObject(value)) throw new Unwritable('LINES', '', 'only an object has lines')
  const lineOf = ([key, member]: [string, unknown]) => {
    if (!/^\\w+$/.test(key)) throw new Unwritable('LINES', key, 'a key has letters, digits and _ only')
    return \`\${key}: \${JSON.stringify(member)}\`
  }
  return Object.entries(value).map(lineOf).join('\\n')
}
`,
    },
  ],
  generated: ['docs/endpoint-document.md'],
  shownBy: { file: 'refused-by-format.test.ts', name: 'LINES' },
}
