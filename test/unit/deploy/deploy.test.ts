/** The examples for scaling out name settings, ports and files that exist. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readSettings } from '../../../src/settings/settings.ts'
import { SETTINGS } from '../../../src/settings/settings-table.ts'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const known = new Set<string>(Object.values(SETTINGS).map(({ name }) => name))

/** Settings of the instances, by their place in the file. */
const examples = [
  { file: 'docker-compose.yml', settings: /^ {4}([A-Z][A-Z_]+): (.+)$/gm, count: 4 },
  { file: 'deploy/kubernetes.yaml', settings: /^ +- name: ([A-Z][A-Z_]+)\n +value: (.+)$/gm, count: 3 },
]
for (const { file, settings, count } of examples) {
  test(`${file} sets what the service takes`, () => {
    const found = [...read(file).matchAll(settings)].map(([, name = '', value = '']) => [name, value] as const)
    assert.equal(found.length, count)
    const env = Object.fromEntries(
      found.map(([name, value]) => [name, value.replace(/\$\{[^}]*\}/g, 'secret').replace(/^"(.*)"$/, '$1')]),
    )
    for (const name of Object.keys(env)) assert.ok(known.has(name), name)
    const reading = readSettings(env)
    assert.ok(reading.ok, reading.ok ? '' : reading.faults.join('\n'))
  })
}

test('the examples use the ports that the service listens on by default', () => {
  const { serverPort, adminPort } = SETTINGS
  const nginx = read('deploy/nginx.conf')
  const kubernetes = read('deploy/kubernetes.yaml')
  for (const { default: port } of [serverPort, adminPort]) {
    assert.match(nginx, new RegExp(`server crosswalk-1:${port} `))
    assert.match(nginx, new RegExp(`server crosswalk-2:${port} `))
    assert.match(kubernetes, new RegExp(`containerPort: ${port} `))
  }
})

/** Numbers of the Kubernetes example, each by the words before it. */
const numberIn = (text: string, before: string): number => Number(new RegExp(`${before}\\D*(\\d+)`).exec(text)?.[1])

test('the connections of all pods of the Kubernetes example fit into a PostgreSQL with its default settings', () => {
  const kubernetes = read('deploy/kubernetes.yaml')
  const pods = numberIn(kubernetes, 'maxReplicas:') + numberIn(kubernetes, 'maxSurge:')
  const poolSize = numberIn(kubernetes, 'DATABASE_POOL_SIZE\\n +value:')
  // One for changes, three for the message log. PostgreSQL keeps three of its 100 for superusers; commands take some.
  assert.ok(pods * (poolSize + 4) <= 100 - 3 - 5, `${pods} pods with ${poolSize + 4} connections`)
})

test('a pod of the Kubernetes example has memory, time and disk for 10,000 endpoints, and only the callers it needs', () => {
  const kubernetes = read('deploy/kubernetes.yaml')
  assert.equal(/limits: \{ memory: (\w+), ephemeral-storage: \w+ \}/.exec(kubernetes)?.[1], '1Gi')
  const probe = kubernetes.slice(kubernetes.indexOf('startupProbe:'), kubernetes.indexOf('livenessProbe:'))
  assert.ok(numberIn(probe, 'periodSeconds:') * numberIn(probe, 'failureThreshold:') >= 120, probe)
  const policy = kubernetes.slice(kubernetes.indexOf('kind: NetworkPolicy'))
  assert.match(policy, /policyTypes: \[Ingress, Egress\]/)
  assert.match(policy, /except: \[169\.254\.0\.0\/16\]/)
})

test('the image has the command that makes the first key', () => {
  assert.match(read('Dockerfile'), /> \/usr\/local\/bin\/crosswalk/)
  for (const page of ['docs/scaling-out.md', 'docs/security.md'])
    assert.match(read(page), /exec [^\n]*crosswalk keys create /)
})

test('docker-compose.yml mounts files that are there', () => {
  const mounted = [...read('docker-compose.yml').matchAll(/- (\.\/[^:]+):/g)].map(([, path = '']) => path)
  assert.deepEqual(mounted, ['./deploy/nginx.conf'])
  for (const path of mounted) assert.ok(existsSync(new URL(`../../../${path}`, import.meta.url)), path)
})

test('nginx finds instances that are made anew, and repeats no message that an instance may have got', () => {
  const nginx = read('deploy/nginx.conf')
  const servers = [...nginx.matchAll(/^ +server (crosswalk-.*);$/gm)].map(([, server]) => server)
  assert.equal(servers.length, 4)
  for (const server of servers) assert.match(server ?? '', / resolve /)
  // Names are resolved again only where the workers share what they know of an upstream.
  assert.equal([...nginx.matchAll(/^ +upstream \w+ \{\n +zone /gm)].length, 2)
  assert.match(nginx, /^ +resolver 127\.0\.0\.11 /m)
  const [, retries = ''] = /^ +proxy_next_upstream (.+);$/m.exec(nginx) ?? []
  assert.deepEqual(retries.split(' '), ['error', 'timeout'])
  const seconds = (name: string) => Number(new RegExp(`^ +${name} (\\d+)s;$`, 'm').exec(nginx)?.[1])
  assert.ok(seconds('proxy_connect_timeout') < seconds('proxy_next_upstream_timeout'))
  assert.ok(seconds('proxy_next_upstream_timeout') < seconds('proxy_read_timeout'))
})
