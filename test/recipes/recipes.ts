/** What each recipe of CONTRIBUTING.md comes to, for a setting, a failure code and so on that do nothing useful. */
import type { Edit, NewFile } from './tree-copy.ts'

export type Recipe = Readonly<{
  edits: readonly Edit[]
  files: readonly NewFile[]
  /** Files that `npm run docs` changes. */
  generated: readonly string[]
  /** The test that shows the change: a base name among the touched files, and the tests in it to run. */
  shownBy: Readonly<{ file: string; name: string }>
}>

/** Sections that have no table and no recipe here yet. */
export const PENDING: readonly string[] = ['Add a stage', 'Add a broker']

/** By the heading of the section. Edits find their file by a text in it: its path is what CONTRIBUTING.md has to say. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  'Add a setting': {
    edits: [
      {
        folder: 'src',
        anchor: 'export const metrics = {\n',
        insert: `  metricsRecipe: { name: 'METRICS_RECIPE', kind: wholeNumber(0, 9), default: '7', means: 'A recipe.' },\n`,
        where: 'after',
      },
      { folder: 'test', anchor: 'const DEFAULTS: Settings = {\n', insert: '  metricsRecipe: 7,\n', where: 'after' },
    ],
    files: [],
    generated: ['docs/settings.md', '.env.example'],
    shownBy: { file: 'settings.test.ts', name: 'an empty environment gives the defaults' },
  },
  'Add a failure code': {
    edits: [
      {
        folder: 'src',
        anchor: 'export const FAILURES = {\n',
        insert: `  RECIPE_UNKNOWN: { status: 418, retry: false, means: 'The recipe is not known.' },\n`,
        where: 'after',
      },
    ],
    files: [
      {
        folder: 'src',
        beside: 'export function compileEndpoint(',
        name: 'refuse-recipe.ts',
        text: (from) => `import { Failure } from '${from('Failure')}'

export function refuseRecipe(): never {
  throw new Failure('RECIPE_UNKNOWN', 'There is no such recipe; name another one.', { path: 'recipe' })
}
`,
      },
      {
        folder: 'test',
        beside: 'const DEFAULTS: Settings = {',
        name: 'refuse-recipe.test.ts',
        text: (from) => `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuseRecipe } from '${from('refuseRecipe')}'

test('an unknown recipe is refused', () => assert.throws(refuseRecipe, { code: 'RECIPE_UNKNOWN' }))
`,
      },
    ],
    generated: ['docs/failures.md'],
    shownBy: { file: 'refuse-recipe.test.ts', name: 'an unknown recipe' },
  },
  'Add a management route': {
    edits: [
      {
        folder: 'src',
        anchor: '  serveMetrics(server, health.metrics)\n',
        insert: '  serveRecipes(server)\n',
        where: 'before',
        imports: 'serveRecipes',
      },
      {
        folder: 'src',
        anchor: "      '/metrics': {\n",
        insert: "      '/recipes': { get: { summary: 'All recipes.', responses: { 200: answer('Recipes.') } } },\n",
        where: 'before',
      },
      { folder: 'test', anchor: "      '/uptime',\n    ])", insert: "      '/recipes',\n", where: 'before' },
    ],
    files: [
      {
        folder: 'src',
        beside: 'export function serveUptime(',
        name: 'recipes.ts',
        text: (from) => `import type { FastifyInstance } from 'fastify'
import { refuseOtherMethods } from '${from('refuseOtherMethods')}'
import { needs } from '${from('needs')}'
import { sendJson } from '${from('sendJson')}'

export function serveRecipes(server: FastifyInstance): void {
  server.get('/recipes', needs('viewer'), async (_request, reply) => sendJson(reply, 200, []))
  refuseOtherMethods(server, '/recipes', ['GET'])
}
`,
      },
    ],
    generated: [],
    shownBy: { file: 'ports.test.ts', name: 'describes calls that are all answered' },
  },
  'Add a format': {
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
  },
}
