/**
 * Parts of the service alone, through the functions that its stages use: `node parts.ts <rounds> <seconds>` writes how
 * often each ran in a second as JSON.
 */

import type { JsonObject } from '../../src/core/json.ts'
import { collectInto, type Lint } from '../../src/core/lint.ts'
import { buildXml } from '../../src/formats/xml-build.ts'
import { parseXml } from '../../src/formats/xml-read.ts'
import { compileMapping } from '../../src/language/mapping/mapping.ts'
import { createRouteTable } from '../../src/language/route-table.ts'
import { flat, manyEndpoints } from '../workloads/flat.ts'
import { jsonToXml, xmlToJson } from '../workloads/report-xml.ts'
import { ward } from '../workloads/ward.ts'

/** `runsPerSecond`: one a round. */
export type PartRates = readonly Readonly<{ key: string; name: string; runsPerSecond: readonly number[] }>[]

type Part = Readonly<{ key: string; name: string; run: (turn: number) => unknown }>

/** Copies of one input, used in turn: V8 may compute the result for a constant only once. */
const COPIES = 64
const copies = <Value>(value: Value): readonly Value[] => Array.from({ length: COPIES }, () => structuredClone(value))

const [rounds = 1, seconds = 1] = process.argv.slice(2).map(Number)

const all: readonly Part[] = [
  mappingPart('mapping-W1', 'mapping alone, W1', flat.mapping, flat.value),
  handPart('mapping-W1-by-hand', 'mapping alone, W1', flat.hand.map, flat.value),
  mappingPart('mapping-W5', 'mapping alone, W5', ward.mapping, ward.value),
  handPart('mapping-W5-by-hand', 'mapping alone, W5', ward.hand.map, ward.value),
  xmlInPart(),
  xmlOutPart(),
  routingPart(10_000),
]

function mappingPart(key: string, name: string, document: JsonObject, message: JsonObject): Part {
  const lints: Lint[] = []
  const mapping = compileMapping(document, collectInto(lints))
  if (lints.length > 0) throw new Error(`The mapping of ${name} has faults: ${JSON.stringify(lints)}`)
  const messages = copies({ constants: {}, query: {}, urlParams: {}, requestBody: message })
  return { key, name, run: (turn) => mapping.apply(messages[turn % COPIES] as (typeof messages)[number]) }
}

function handPart(key: string, name: string, map: (message: never, found: []) => unknown, message: JsonObject): Part {
  const messages = copies(message)
  return { key, name, run: (turn) => map(messages[turn % COPIES] as never, []) }
}

function xmlInPart(): Part {
  const options = { trim: true, explicitRoot: false, explicitArray: false }
  return { key: 'xml-in', name: 'reading the XML of W4', run: () => parseXml(xmlToJson.message, options) }
}

function xmlOutPart(): Part {
  const outputs = copies(jsonToXml.output)
  return { key: 'xml-out', name: 'writing the XML of W4', run: (turn) => buildXml(outputs[turn % COPIES] ?? null) }
}

function routingPart(count: number): Part {
  const { documents } = manyEndpoints(count)
  const table = createRouteTable<number>()
  documents.forEach(({ endpoint }, n) => {
    table.add('POST', endpoint.pattern, n)
  })
  const paths = documents.map(({ endpoint }) => endpoint.pattern.replace(':ward', 'north'))
  // A step that is prime to the count comes to every route, in no order that the table has.
  const run = (turn: number): unknown => table.find('POST', paths[(turn * 7_919) % count] as string)
  return { key: 'routing', name: `finding one of ${count.toLocaleString('en-GB')} routes`, run }
}

/** Kept, so that nothing is left out for having no use. */
let last: unknown

function rateOf({ run }: Part): number {
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1_000
  let runs = 0
  let now = startedAt
  while (now < endsAt) {
    for (let more = 0; more < 100; more += 1) last = run(runs + more)
    runs += 100
    now = performance.now()
  }
  if (last === undefined) throw new Error('A part found nothing.')
  return (runs * 1_000) / (now - startedAt)
}

for (const part of all) rateOf(part)
const rates = new Map<Part, number[]>(all.map((part) => [part, []]))
for (let round = 0; round < rounds; round += 1) for (const [part, found] of rates) found.push(rateOf(part))
const result: PartRates = Array.from(rates, ([{ key, name }, runsPerSecond]) => ({ key, name, runsPerSecond }))
process.stdout.write(JSON.stringify(result))
