import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parseEnv } from 'node:util'
import { createReport, type ReportParts, reportMarkdown } from '../../../migrate/import/import-report.ts'
import { envText, FileExists, type NewFile, writeFiles } from '../../../migrate/import/imported-files.ts'
import fc from '../../support/fast-check.ts'
import { folderWith, jsonAt, textsIn } from '../../support/migrate/import-rig.ts'

describe('the file of secrets', () => {
  test('any values are read back, or named as not written', () => {
    const secrets = fc.array(fc.string({ minLength: 1, unit: 'binary' }), { maxLength: 5 })
    fc.assert(
      fc.property(secrets, (values) => {
        const lines = values.map((value, index) => ({ name: `S${index}`, value }))
        const { text, unwritable } = envText(lines, undefined)
        const written = lines.filter(({ name }) => !unwritable.includes(name))
        assert.deepEqual({ ...parseEnv(text) }, Object.fromEntries(written.map(({ name, value }) => [name, value])))
      }),
      { numRuns: 1_000 },
    )
  })

  test('a value that no line can hold is named', () => {
    const { text, unwritable } = envText([{ name: 'A', value: '#"\'`' }], undefined)
    assert.deepEqual(unwritable, ['A'])
    assert.match(text, /^# A has a value/m)
    assert.doesNotMatch(text, /"'`/)
  })

  test('keeps the lines of an earlier import, and says which values changed', () => {
    const secrets = [
      { name: 'A', value: '2' },
      { name: 'B', value: '3' },
    ]
    const { text, changed } = envText(secrets, '# x\nA=1\nC="4"\n')
    assert.deepEqual({ ...parseEnv(text) }, { A: '2', C: '4', B: '3' })
    assert.deepEqual(changed, ['A'])
  })
})

describe('writing', () => {
  const file = (path: string, content: string, more: Partial<NewFile> = {}): NewFile => ({
    path,
    content,
    kind: 'document',
    replacesAny: false,
    ...more,
  })

  test('writes the files and lists them; the secrets are for their owner alone', (context) => {
    const folder = join(folderWith({}, context), 'new/folder')
    writeFiles(folder, [
      file('a.json', 'A', { of: 'An A' }),
      file('.env.import', 'S', { kind: 'secrets', isSecret: true }),
    ])
    const { 'import-manifest.json': manifest, ...texts } = textsIn(folder)
    assert.deepEqual(texts, { '.env.import': 'S', 'a.json': 'A' })
    assert.match(manifest ?? '', /"a.json": \{\s*"kind": "document",\s*"sha256": "[0-9a-f]{64}",\s*"of": "An A"/)
    assert.equal(statSync(join(folder, '.env.import')).mode & 0o777, 0o600)
  })

  test('replaces what an import wrote, and keeps what this one does not write', (context) => {
    const folder = folderWith({ 'README.md': 'mine' }, context)
    writeFiles(folder, [file('a.json', 'A'), file('b.json', 'B')])
    writeFiles(folder, [file('a.json', 'A2')])
    const { 'import-manifest.json': _, ...texts } = textsIn(folder)
    assert.deepEqual(texts, { 'README.md': 'mine', 'a.json': 'A2', 'b.json': 'B' })
    assert.deepEqual(Object.keys(jsonAt(folder, 'import-manifest.json').files ?? {}), ['a.json', 'b.json'])
  })

  const IN_THE_WAY: Readonly<Record<string, Readonly<{ prepare(folder: string): void; message: RegExp }>>> = {
    'a file that no import wrote': {
      prepare: (folder) => writeFileSync(join(folder, 'b.json'), 'mine'),
      message: /b\.json is there already, and no import wrote it/,
    },
    'a file that was changed since': {
      prepare: (folder) => {
        writeFiles(folder, [file('b.json', 'B')])
        writeFileSync(join(folder, 'b.json'), 'mine')
      },
      message: /b\.json was changed since it was imported/,
    },
    'a link': {
      prepare: (folder) => symlinkSync('/etc/hostname', join(folder, 'b.json')),
      message: /b\.json is there already/,
    },
    'another manifest': {
      prepare: (folder) =>
        writeFileSync(join(folder, 'import-manifest.json'), '{"files":{"b.json":{"kind":"document"}}}'),
      message: /import-manifest\.json is there already/,
    },
  }
  for (const [title, { prepare, message }] of Object.entries(IN_THE_WAY)) {
    test(`refuses ${title}, and leaves everything as it was`, (context) => {
      const folder = folderWith({}, context)
      prepare(folder)
      const before = textsIn(folder)
      const write = () => writeFiles(folder, [file('a.json', 'A'), file('b.json', 'B2')])
      assert.throws(write, (thrown) => thrown instanceof FileExists && message.test(thrown.message))
      assert.deepEqual(textsIn(folder), before)
    })
  }

  test('takes files for its own that a stopped import left', (context) => {
    const folder = folderWith({}, context)
    writeFiles(folder, [file('a.json', 'A'), file('b.json', 'B')])
    writeFiles(folder, [file('a.json', 'A2'), file('b.json', 'B2')])
    // As if it had been stopped after the manifest and one file.
    writeFileSync(join(folder, 'b.json'), 'B')
    writeFiles(folder, [file('a.json', 'A3'), file('b.json', 'B3')])
    assert.equal(readFileSync(join(folder, 'b.json'), 'utf8'), 'B3')
  })

  test('leaves nothing behind if it cannot write', (context) => {
    const folder = folderWith({ reports: 'a file where a folder is needed' }, context)
    assert.throws(() => writeFiles(folder, [file('a.json', 'A'), file('reports/b.md', 'B')]), /ENOTDIR|EEXIST/)
    assert.deepEqual(readdirSync(folder), ['reports'])
  })
})

describe('the report', () => {
  const parts = (changes: ReportParts['documents'][number]['changes']): ReportParts => ({
    sources: ['endpoints'],
    documents: [
      {
        name: 'A | <b>*x*</b>\n# Head',
        route: 'POST /a',
        source: 'a.json',
        file: 'a.json',
        changes,
        faults: [{ path: 'name', message: 'It has `secret-value` in it.' }],
        warnings: [],
      },
    ],
    skipped: [{ source: 'x.json', reason: 'No endpoint document.' }],
    secrets: { file: '.env.import', names: ['A'], changed: [], unwritable: [] },
  })
  const report = createReport(
    parts([
      { level: 'carried', path: 'description', reason: 'Carried.' },
      { level: 'changed', path: 'inputMapping.a|b', before: 'x`|`y', after: { a: ['\n'] }, reason: 'Changed.' },
      { level: 'lost', path: '', before: 'z'.repeat(5_000), reason: 'Lost.' },
      { level: 'differs', path: 'state', reason: 'Differs by secret-value.' },
    ]),
    [{ name: 'A', value: 'secret-value' }],
  )
  const markdown = reportMarkdown(report)

  test('says what to do next for what is lost, differs and is at fault', () => {
    const steps = markdown.slice(markdown.indexOf('## What to do next'), markdown.indexOf('## Documents'))
    for (const expected of [
      /Fix what a registration refuses/,
      /the document: Lost\./,
      /`state`: Differs by/,
      /Give the service the variables of `\.env\.import`, .*: `A`/,
      /--apply/,
    ]) {
      assert.match(steps, expected)
    }
    assert.doesNotMatch(steps, /Carried|Changed/)
  })

  test('lists the places of one reason together', () => {
    const change = (path: string, more: object = {}) => ({
      level: 'differs' as const,
      path,
      reason: 'It moved.',
      ...more,
    })
    const text = reportMarkdown(
      createReport(parts([change('a', { before: 1 }), change('b', { before: 2 }), change('c', { after: 3 })]), []),
    )
    assert.match(text, /^ {3}- It moved\.\n {5}- `a\.json`, `a`\n {5}- `a\.json`, `b`\n {5}- `a\.json`, `c`$/m)
    assert.match(
      text,
      /^\| differs \| `c` \| {2}\| `3` \| It moved\. \|\n\| differs \| `a`, `b` \| `1`, `2` \| {2}\| It moved\. \|$/m,
    )
  })

  test('has a table for the document, the worst first, with five cells in each row', () => {
    const rows = markdown
      .split('\n')
      .filter((line) => /^\| (?:lost|differs|changed|carried) \| (?:the document|`)/.test(line))
    assert.deepEqual(
      rows.map((row) => row.split(' ')[1]),
      ['lost', 'differs', 'changed', 'carried'],
    )
    for (const row of rows) assert.equal(row.match(/(?<!\\)\|/g)?.length, 6, row)
  })

  test('has texts of documents on one line, without effect as Markdown', () => {
    assert.match(markdown, /^### A \\\| \\<b\\>\\\*x\\\*\\<\/b\\>\\\\u000a# Head$/m)
    assert.ok(!markdown.split('\n').some((line) => line.length > 1_000))
  })

  test('has no secret, as data and as Markdown', () => {
    assert.doesNotMatch(JSON.stringify(report) + markdown, /secret-value/)
    assert.match(markdown, /Differs by \\\*\\\*\\\*/)
  })
})
