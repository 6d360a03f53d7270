/** Plans: which endpoint belongs to which document, and that nothing is deleted unasked. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CommandFault } from '../../../../src/cli/command.ts'
import { type DesiredDocument, planDeployment } from '../../../../src/cli/deployment/plan.ts'
import type { JsonObject } from '../../../../src/core/json.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

const LABELS = { project: 'p' }

const bare = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  labels: LABELS,
  endpoint: { pattern: '/a' },
  transformation: { input: 'JSON', output: 'JSON' },
  ...more,
})
const desired = (name: string, renamedFrom?: string, more: JsonObject = {}): DesiredDocument => ({
  file: `${name}.json`,
  name,
  renamedFrom,
  document: bare(name, more),
})
/** As the service returns it. */
const stored = (name: string, id: string, more: JsonObject = {}): JsonObject => {
  const endpoint = checkDocument(bare(name, more)).endpoint as unknown as JsonObject
  return { _id: id, ...endpoint, createdAt: 'x', updatedAt: 'y', __v: 0 }
}

const never = () => Promise.resolve(false)
type Case = Readonly<{
  documents: readonly DesiredDocument[]
  stored: readonly JsonObject[]
  /** Ids and the names that their endpoints had. */
  had?: Readonly<Record<string, string>>
  prune?: true
  /** Operation, name and id. */
  plan?: readonly (readonly [string, string, string?])[]
  leftOver?: readonly string[]
  faults?: RegExp
}>

const CASES: Readonly<Record<string, Case>> = {
  'nothing to do': { documents: [desired('a')], stored: [stored('a', '1')], plan: [] },
  'a new one': { documents: [desired('a')], stored: [], plan: [['create', 'a']] },
  'one that differs': {
    documents: [desired('a', undefined, { description: 'x' })],
    stored: [stored('a', '1')],
    plan: [['replace', 'a', '1']],
  },
  'a rename keeps the id': {
    documents: [desired('b', 'a')],
    stored: [stored('a', '1')],
    plan: [['replace', 'b', '1']],
  },
  'a rename that was made': { documents: [desired('b', 'a')], stored: [stored('b', '1')], plan: [] },
  'a rename of what is not there': { documents: [desired('b', 'a')], stored: [], plan: [['create', 'b']] },
  'both names are there: the rename was made, and the old name is another one now': {
    documents: [desired('b', 'a')],
    stored: [stored('a', '1'), stored('b', '2')],
    plan: [],
    leftOver: ['a'],
  },
  'the old name is given to a new endpoint': {
    documents: [desired('b', 'a'), desired('a')],
    stored: [stored('a', '1')],
    plan: [
      ['replace', 'b', '1'],
      ['create', 'a'],
    ],
  },
  'a chain of renames': {
    documents: [desired('b', 'a'), desired('c', 'b')],
    stored: [stored('a', '1'), stored('b', '2')],
    plan: [
      ['replace', 'b', '1'],
      ['replace', 'c', '2'],
    ],
  },
  'a chain of renames that were made': {
    documents: [desired('b', 'a'), desired('c', 'b')],
    stored: [stored('b', '1'), stored('c', '2')],
    plan: [],
  },
  'two names are swapped': {
    documents: [desired('b', 'a'), desired('a', 'b')],
    stored: [stored('a', '1'), stored('b', '2')],
    plan: [
      ['replace', 'b', '1'],
      ['replace', 'a', '2'],
    ],
  },
  'two names that were swapped': {
    documents: [desired('b', 'a'), desired('a', 'b')],
    stored: [stored('b', '1'), stored('a', '2')],
    had: { 1: 'a', 2: 'b' },
    plan: [],
  },
  'half a swap was made by others': {
    documents: [desired('b', 'a'), desired('a', 'b')],
    stored: [stored('b', '1'), stored('a', '2')],
    had: { 1: 'a' },
    faults: /Some of these renames were made and some were not: "b", "a"/,
  },
  'two files of one name': {
    documents: [desired('a'), { ...desired('a'), file: 'other.json' }],
    stored: [],
    faults: /a\.json and other\.json have the same name "a"/,
  },
  'two files that were one': {
    documents: [desired('b', 'a'), desired('c', 'a')],
    stored: [stored('a', '1')],
    faults: /b\.json and c\.json were both "a"/,
  },
  'what has no file stays': {
    documents: [],
    stored: [stored('a', '1'), stored('b', '2', { labels: {} }), stored('c', '3', { labels: { project: 'q' } })],
    plan: [],
    leftOver: ['a'],
  },
  'what has no file is deleted with prune, if it has the labels': {
    documents: [],
    stored: [stored('a', '1'), stored('b', '2', { labels: {} }), stored('c', '3', { labels: { project: 'q' } })],
    prune: true,
    plan: [['delete', 'a', '1']],
  },
  'what was renamed is not deleted': {
    documents: [desired('b', 'a')],
    stored: [stored('a', '1')],
    prune: true,
    plan: [['replace', 'b', '1']],
  },
}

describe('a plan', () => {
  for (const [
    name,
    { documents, stored: there, had = {}, prune = false, plan, leftOver = [], faults },
  ] of Object.entries(CASES)) {
    test(name, async () => {
      const hadName = (id: string, former: string) => Promise.resolve(had[id] === former)
      const planned = planDeployment(documents, there, { labels: LABELS, prune, hadName })
      if (faults !== undefined) return assert.rejects(planned, { message: faults })
      const { operations, leftOver: left } = await planned
      const made = operations.map(({ op, name: one, id }) => (id === undefined ? [op, one] : [op, one, id]))
      assert.deepEqual([made, left], [plan, leftOver])
    })
  }
})

const names = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const someLabels = fc.constantFrom({}, LABELS, { project: 'q' }, { ...LABELS, team: 'x' })
const documents = fc.uniqueArray(
  fc.record({ name: names, renamedFrom: fc.option(names, { nil: undefined }), description: fc.constantFrom('x', 'y') }),
  { selector: ({ name }) => name },
)
const endpoints = fc.uniqueArray(
  fc.record({ name: names, labels: someLabels, description: fc.constantFrom('x', 'y') }),
  { selector: ({ name }) => name },
)

test('random plans delete nothing without prune, and with it only what has the labels and no file', async () => {
  const property = fc.asyncProperty(
    documents,
    endpoints,
    someLabels,
    fc.boolean(),
    async (files, there, labels, prune) => {
      const wanted = files.map(({ name, renamedFrom, description }) =>
        desired(name, renamedFrom === name ? undefined : renamedFrom, { description, labels }),
      )
      const all = there.map(({ name, labels: own, description }, at) =>
        stored(name, String(at), { labels: own, description }),
      )
      const plan = await planDeployment(wanted, all, { labels, prune, hadName: never }).catch((thrown: unknown) => {
        if (!(thrown instanceof CommandFault)) throw thrown
      })
      if (plan === undefined) return
      const { operations, unchanged } = plan
      const deleted = operations.filter(({ op }) => op === 'delete')
      if (!prune) assert.deepEqual(deleted, [])
      for (const { name } of deleted) {
        const own = all.find((one) => one.name === name)?.labels as JsonObject
        assert.ok(Object.keys(labels).length > 0)
        for (const [label, value] of Object.entries(labels)) assert.equal(own[label], value)
      }
      const ids = operations.flatMap(({ id }) => id ?? [])
      assert.equal(new Set(ids).size, ids.length, 'no endpoint is changed twice')
      assert.equal(operations.length - deleted.length + unchanged, wanted.length)
      // The names afterwards are unique, so that the service can take the plan.
      const after = new Map(all.map(({ _id, name }) => [String(_id), String(name)]))
      let created = 0
      for (const { op, id = `new ${created++}`, name } of operations) {
        if (op === 'delete') after.delete(id)
        else after.set(id, name)
      }
      assert.equal(new Set(after.values()).size, after.size)
      for (const { name } of wanted) assert.ok([...after.values()].includes(name))
    },
  )
  await fc.assert(property, { numRuns: LONG ? 20_000 : 1_000 })
})
