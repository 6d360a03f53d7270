/** A folder of its own for a test, and the look at a database file that no store gives. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'

/** A path for a database in a new folder, which is removed after the test. */
export function freshPath(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-sqlite-'))
  test.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'crosswalk.db')
}

/** Runs `look` on a connection of its own. */
export function lookInto<T>(path: string, look: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path, { timeout: 5_000 })
  try {
    return look(db)
  } finally {
    db.close()
  }
}

export function assertSound(path: string): void {
  lookInto(path, (db) => {
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok')
    assert.deepEqual(db.prepare('PRAGMA foreign_key_check').all(), [])
  })
}
