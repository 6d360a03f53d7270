import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder, readFault, writeFault } from '../../../src/core/files/files.ts'
import { folderOf } from '../../support/cli/project/folder.ts'

const READS = [
  { path: 'none', says: 'There is no file NAME.' },
  { path: 'file/none', says: 'There is no file NAME.' },
  { path: '.', says: 'NAME cannot be read: it is a folder.' },
  { path: 'circle', says: 'NAME cannot be read: its links lead in a circle.' },
]
const FOLDER_READS = [
  { path: 'none', says: 'There is no folder NAME.' },
  { path: 'file', says: 'NAME is not a folder.' },
]
const WRITES = [
  { path: 'none/file', says: 'NAME cannot be written: its folder does not exist.' },
  { path: '.', says: 'NAME cannot be written: it is a folder.' },
  { path: 'file/other', says: 'NAME cannot be written: it is not in a folder.' },
]

test('faults of files are sentences', (context) => {
  const folder = folderOf(context, { file: 'x' })
  symlinkSync('circle', join(folder, 'circle'))
  const check = (work: () => unknown, sentenceOf: (thrown: unknown) => string, says: string) =>
    assert.throws(
      work,
      (thrown) => sentenceOf(thrown) === says || assert.fail(`${sentenceOf(thrown)} instead of ${says}`),
    )
  for (const { path, says } of READS) {
    check(
      () => readFileSync(join(folder, path)),
      (thrown) => readFault('NAME', thrown),
      says,
    )
  }
  for (const { path, says } of FOLDER_READS) {
    check(
      () => readdirSync(join(folder, path)),
      (thrown) => readFault('NAME', thrown, 'folder'),
      says,
    )
  }
  for (const { path, says } of WRITES) {
    check(
      () => writeFileSync(join(folder, path), ''),
      (thrown) => writeFault('NAME', thrown),
      says,
    )
  }
  // With `recursive`, Node.js loops for ever below /proc.
  if (!existsSync('/proc/self')) return
  const says = 'NAME cannot be written: no folder can be made there.'
  check(
    () => makeFolder('/proc/crosswalk/new'),
    (thrown) => writeFault('NAME', thrown),
    says,
  )
})

test('a folder is made with those above it, or is there', (context) => {
  const folder = join(folderOf(context, {}), 'a/b/c')
  makeFolder(folder)
  makeFolder(folder)
  assert.ok(existsSync(folder))
})
