/** The project and the pipeline of docs/gitops.md, run line by line against a service. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../../src/core/json.ts'
import { blocksOf, type Fence } from '../../support/docs/page.ts'
import { freshFolder, spawnService } from '../../support/spawned-service.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

const fences = blocksOf(readFileSync(join(root, 'docs/gitops.md'), 'utf8')).filter(
  (block): block is Fence => block.kind === 'fence',
)
const textOf = (language: string): string => fences.find(({ words }) => words.join(' ') === language)?.text ?? ''
const LINES = [...textOf('yaml').matchAll(/^ *- run: (.+)$/gm)].map(([, line = '']) => line)

const DOCUMENT: JsonObject = {
  name: 'Orders',
  endpoint: { pattern: '/orders' },
  transformation: { input: 'JSON', output: 'JSON' },
  constants: { store: '${value:STORE}' },
  inputMapping: { 'constants.store': 'store' },
}

test('the pipeline publishes what the files say, and again when they change', async (context) => {
  assert.equal(LINES.length, 10)
  const folder = freshFolder(context)
  const service = await spawnService(freshFolder(context))
  context.after(() => service.child.kill())
  const project = JSON.parse(textOf('text')) as { targets: { prod: { url: string } } }
  project.targets.prod.url = service.adminUrl
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  mkdirSync(join(folder, 'endpoints'))
  // What `npm ci` does where the package is in the repository.
  const install = `mkdir -p node_modules/.bin && ln -sf '${join(root, 'bin/crosswalk.js')}' node_modules/.bin/crosswalk`
  writeFileSync(join(programs, 'npm'), `#!/bin/sh\n[ "$*" = ci ] && ${install}\n`, { mode: 0o755 })
  writeFileSync(join(folder, 'crosswalk.json'), JSON.stringify(project))
  const tests = [{ name: 'any order', given: { message: { body: {} } }, expect: { outcome: 'done' } }]
  writeFileSync(join(folder, 'endpoints/orders.tests.json'), JSON.stringify({ tests }))

  const added = join(folder, 'path')
  const runLine = (line: string) =>
    new Promise<{ code: number | null; output: string }>((resolve) => {
      // The runner of GitHub does this between two steps.
      const paths = readFileSync(added, 'utf8').split('\n').filter(Boolean)
      const PATH = [...paths, programs, process.env.PATH].join(delimiter)
      const env = { PATH, GITHUB_PATH: added, GITHUB_SHA: 'f00' }
      const child = spawn('bash', ['-e', '-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
        })
      }
      child.on('close', (code) => resolve({ code, output }))
    })
  const runAll = async (document: JsonObject) => {
    writeFileSync(join(folder, 'endpoints/orders.json'), JSON.stringify(document))
    writeFileSync(added, '')
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
    for (const line of LINES) {
      const { code, output } = await runLine(line)
      assert.equal(code, 0, `${line}\n${output}`)
    }
    const answer = await fetch(`${service.url}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    return answer.json()
  }
  assert.deepEqual(await runAll(DOCUMENT), { store: 'https://store.example' })
  const stale = await runLine(LINES.find((line) => line.includes('--yes')) ?? '')
  assert.deepEqual([stale.code, /since the plan was made/i.test(stale.output)], [3, true], stale.output)

  // Each run starts with a fresh checkout.
  rmSync(join(folder, 'plan.json'))
  const changed = { ...DOCUMENT, constants: {}, inputMapping: { 'requestBody.none': 'none' } }
  assert.deepEqual(await runAll(changed), {})
})
