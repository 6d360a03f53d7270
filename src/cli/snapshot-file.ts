/** The file of snapshots beside a file of tests: `x.snapshots.json`. */
import { existsSync } from 'node:fs'
import { isObject, type JsonObject } from '../core/json.ts'
import { snapshotFor, snapshotMismatches, withSnapshot } from '../try/tests/run-tests.ts'
import type { DocumentTest, Mismatch, Snapshots, TestFile } from '../try/tests/test-file.ts'
import { CommandFault, jsonText, shownPath, writeText } from './command.ts'
import { parseText, readJsonText } from './project/project-file.ts'

/** A snapshot that was written; without `differences`, there was none before. */
export type WrittenSnapshot = Readonly<{ test: string; step: number; differences?: readonly Mismatch[] }>

export type SnapshotFile = Readonly<{
  /** Those of the file, with what was accepted since. */
  current(): Snapshots
  /** Takes what a message did, in place of a missing snapshot or of another one, as far as the mode allows. */
  take(test: DocumentTest, step: number, snapshot: JsonObject): void
  written(): readonly WrittenSnapshot[]
  /** Writes the file if it changed. `all`: whether all tests ran, so that snapshots of others are left over. */
  save(all: boolean): void
}>

/** missing: a snapshot that is not there is written; all: another one too; none: nothing is written. */
export type SnapshotMode = 'none' | 'missing' | 'all'

/** `path`: of the tests. Throws CommandFault if the file of snapshots cannot be read. */
export function openSnapshots(path: string, tests: TestFile, mode: SnapshotMode): SnapshotFile {
  const file = path.replace(/\.tests\.json$/i, '.snapshots.json')
  let snapshots = existsSync(file) ? read(file) : {}
  const written: WrittenSnapshot[] = []
  return {
    current: () => snapshots,
    take: (test, step, snapshot) => {
      const stored = snapshotFor(snapshots, test, step)
      const differences = stored === undefined ? [] : snapshotMismatches(stored, snapshot)
      const isTaken = stored === undefined ? mode !== 'none' : mode === 'all' && differences.length > 0
      if (!isTaken) return
      written.push({ test: test.name, step, ...(stored === undefined ? {} : { differences }) })
      snapshots = withSnapshot(snapshots, test, step, snapshot)
    },
    written: () => written,
    save: (all) => {
      const names = tests.tests.map(({ name }) => name)
      const left = Object.keys(snapshots).filter((name) => !names.includes(name))
      const drops = mode === 'all' && all && left.length > 0
      if (written.length === 0 && !drops) return
      const kept = [...names, ...(drops ? [] : left)].filter((name) => Object.hasOwn(snapshots, name))
      const ordered = Object.fromEntries(kept.map((name) => [name, snapshots[name]]))
      writeText(file, jsonText(ordered))
    },
  }
}

function read(file: string): Snapshots {
  const text = readJsonText(file)
  const { raw } = text.ok ? parseText(text.value) : {}
  if (isObject(raw)) return raw
  throw new CommandFault(`The file ${shownPath(file)} holds no snapshots: it isn't a JSON object.`)
}
