import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

test('a confined process reaches no network, files, programs or other processes', async (t) => {
  let connections = 0
  const server = createServer((_request, response) => response.end()).on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const probe = fileURLToPath(new URL('confined-probe.ts', import.meta.url))
  const args = ['--permission', `--allow-fs-read=${root}`, probe, `${port}`, `${process.pid}`]

  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {}, timeout: 120_000 })

  const { worked, tried } = JSON.parse(stdout) as { worked: string[]; tried: number }
  assert.deepEqual(worked, [])
  assert.ok(tried > 20)
  assert.equal(connections, 0)
})
