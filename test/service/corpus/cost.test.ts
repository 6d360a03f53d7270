/**
 * What malformed bodies of 1 MiB cost the service, beside a plain one of the same size. Processor time of the whole
 * process, the least of some rounds, as the wall clock includes what else the machine does; it is reported with each test.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Case, type Corpus, startCorpus } from './corpus.ts'

/** By the contract: an answer within 500 ms. */
const MOST_MS = 500
const ROUNDS = 3
/** The limit of a body, less what closes it. */
const SIZE = 1_048_576 - 100

const filled = (before: string, unit: string, after = ''): string =>
  before + unit.repeat(Math.floor((SIZE - before.length - after.length) / unit.length)) + after

const entities = Array.from({ length: 9 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('')

type CostCase = Case & Readonly<{ format: 'json' | 'xml'; status: number }>

const CASES: readonly CostCase[] = [
  { name: 'JSON: plain', format: 'json', status: 200, body: filled('[', '{"a":"text","b":1.5},', '0]') },
  { name: 'JSON: brackets, open', format: 'json', status: 400, body: filled('', '[') },
  { name: 'JSON: brackets, closed', format: 'json', status: 400, body: '['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2) },
  { name: 'JSON: objects, open', format: 'json', status: 400, body: filled('', '{"a":') },
  { name: 'JSON: too deep at the end', format: 'json', status: 400, body: filled('[', '[[]],', '['.repeat(64)) },
  { name: 'JSON: wrong in the last place', format: 'json', status: 400, body: filled('[', '"a\\n",', ']') },
  { name: 'JSON: a text that does not end', format: 'json', status: 400, body: filled('"', '\\\\') },
  {
    name: 'JSON: one wrong byte, the last',
    format: 'json',
    status: 400,
    body: Buffer.from(filled('"', 'x', 'ÿ"'), 'latin1'),
  },
  { name: 'JSON: lines, wrong in the last', format: 'json', status: 400, body: filled('[', '\n', 'x') },
  { name: 'JSON: a number of digits', format: 'json', status: 400, body: filled('', '9') },
  { name: 'XML: plain', format: 'xml', status: 200, body: filled('<m>', '<i a="1">text</i>', '</m>') },
  { name: 'XML: elements, open', format: 'xml', status: 400, body: filled('', '<a>') },
  { name: 'XML: elements, closed', format: 'xml', status: 400, body: '<a>'.repeat(140_000) + '</a>'.repeat(140_000) },
  { name: 'XML: elements, wide and open', format: 'xml', status: 400, body: filled('<m>', '<a/>') },
  {
    name: 'XML: entities within entities',
    format: 'xml',
    status: 400,
    body: filled(`<!DOCTYPE m [<!ENTITY e0 "lol">${entities}]><m>`, '&e9;', '</m>'),
  },
  {
    name: 'XML: one long entity, often',
    format: 'xml',
    status: 400,
    body: filled(`<!DOCTYPE m [<!ENTITY e "${'x'.repeat(500_000)}">]><m>`, '&e;', '</m>'),
  },
  {
    name: 'XML: declarations of entities',
    format: 'xml',
    status: 400,
    body: filled('<!DOCTYPE m [', '<!ENTITY e "x">'),
  },
  { name: 'XML: entities that are not declared', format: 'xml', status: 400, body: filled('<m>', '&nope;', '</m>') },
  { name: 'XML: references to characters', format: 'xml', status: 200, body: filled('<m>', '&#x41;', '</m>') },
  {
    name: 'XML: attributes, one twice',
    format: 'xml',
    status: 400,
    body: `<m ${Array.from({ length: 9_000 }, (_, n) => `a${n}="${'x'.repeat(100)}"`).join(' ')} a0=""/>`,
  },
  {
    name: 'XML: attributes, too many',
    format: 'xml',
    status: 413,
    body: `<m ${Array.from({ length: 80_000 }, (_, n) => `a${n}=""`).join(' ')}/>`,
  },
  { name: 'XML: a comment that does not end', format: 'xml', status: 400, body: filled('<m><!--', '- ') },
  { name: 'XML: CDATA that does not end', format: 'xml', status: 400, body: filled('<m><![CDATA[', ']]') },
  { name: 'XML: a tag that does not end', format: 'xml', status: 400, body: filled('<m ', ' ') },
  { name: 'XML: a name that does not end', format: 'xml', status: 400, body: filled('<', 'n') },
]

let corpus: Corpus
before(async () => {
  corpus = await startCorpus()
})
after(() => corpus.stop())

describe('a body of 1 MiB is answered in time', () => {
  for (const one of CASES) {
    test(one.name, async (context) => {
      const costsMs: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const before = process.cpuUsage()
        const reply = await corpus[one.format](one)
        const { user, system } = process.cpuUsage(before)
        costsMs.push((user + system) / 1_000)
        assert.equal(reply.status, one.status, reply.text.slice(0, 200))
      }
      const leastMs = Math.min(...costsMs)
      context.diagnostic(`${leastMs.toFixed(0)} ms: ${one.name}`)
      assert.ok(leastMs < MOST_MS, `${leastMs} ms of processor time`)
    })
  }
})
