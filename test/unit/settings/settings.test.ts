import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { loadEnvFile, readSettings, type Settings } from '../../../src/settings/settings.ts'
import { settingsHelp } from '../../../src/settings/settings-help.ts'
import { SETTING_GROUPS, SETTINGS } from '../../../src/settings/settings-table.ts'

type Env = Readonly<Record<string, string | undefined>>

function settingsOf(env: Env): Settings {
  const reading = readSettings(env)
  assert.ok(reading.ok, reading.ok ? '' : reading.faults.join('\n'))
  return reading.settings
}

function faultsOf(env: Env): readonly string[] {
  const reading = readSettings(env)
  return reading.ok ? [] : reading.faults
}

function warningsOf(env: Env): readonly string[] {
  const reading = readSettings(env)
  return reading.ok ? reading.warnings : []
}

describe('reading', () => {
  test('a variable that is empty or not set has the default that the table shows, frozen', () => {
    const settings = settingsOf({})
    assert.ok(Object.isFrozen(settings))
    for (const textOf of [(): string => ' ', (setting: { default: string }) => setting.default]) {
      const env = Object.fromEntries(Object.values(SETTINGS).map((setting) => [setting.name, textOf(setting)]))
      assert.deepEqual(settingsOf(env), settings)
    }
  })

  const cases: readonly { env: Env; expect: Partial<Settings> }[] = [
    // One default of each kind; docs/settings.md shows all.
    {
      env: {},
      expect: { serverPort: 3003, host: '127.0.0.1', publicUrl: undefined, enableLogging: true, managementHosts: [] },
    },
    { env: {}, expect: { parserLimitBytes: 1_048_576, messageLog: 'failures', messageMaxBytes: undefined } },
    { env: {}, expect: { secretsAllowed: { names: ['CROSSWALK_SECRET_*'], folders: ['/run/secrets/crosswalk'] } } },
    { env: {}, expect: { kafkaRetryPausesMs: [1000, 5000, 30_000, 120_000], otlpHeaders: {}, otelSamplerRatio: 1 } },
    { env: { SERVER_PORT: '0' }, expect: { serverPort: 0 } },
    { env: { SERVER_PORT: ' 65535 ' }, expect: { serverPort: 65_535 } },
    { env: { SERVER_PORT: '0', ADMIN_PORT: '0' }, expect: { serverPort: 0, adminPort: 0 } },
    { env: { HOST: '0.0.0.0' }, expect: { host: '0.0.0.0' } },
    {
      env: { DATABASE_URL: 'postgres://u:p%40ss@db:5433/x?sslmode=verify-full' },
      expect: { databaseUrl: 'postgres://u:p%40ss@db:5433/x?sslmode=verify-full' },
    },
    {
      env: { DATABASE_URL: 'postgresql:///x?host=/run/postgresql' },
      expect: { databaseUrl: 'postgresql:///x?host=/run/postgresql' },
    },
    { env: { HOST: '::1' }, expect: { host: '::1' } },
    { env: { ADMIN_HOST: 'crosswalk-1.internal' }, expect: { adminHost: 'crosswalk-1.internal' } },
    { env: { SERVER_PORT: '80', ADMIN_PORT: '80', HOST: '10.0.0.1' }, expect: { serverPort: 80, adminPort: 80 } },
    { env: { ENABLE_LOGGING: 'FALSE' }, expect: { enableLogging: false } },
    { env: { LOG_LEVEL: 'Warn' }, expect: { logLevel: 'warn' } },
    { env: { PARSER_LIMIT: '512kb' }, expect: { parserLimitBytes: 524_288 } },
    { env: { PARSER_LIMIT: '1.5 MB' }, expect: { parserLimitBytes: 1_572_864 } },
    { env: { PARSER_LIMIT: '2000' }, expect: { parserLimitBytes: 2000 } },
    { env: { PARSER_LIMIT: '2000b' }, expect: { parserLimitBytes: 2000 } },
    { env: { ANSWER_LIMIT: '100mb' }, expect: { answerLimitBytes: 104_857_600 } },
    { env: { MANAGEMENT_AUTH: 'KEYS' }, expect: { managementAuth: 'keys' } },
    { env: { MANAGEMENT_AUTH: 'off' }, expect: { managementAuth: 'off' } },
    {
      env: { MANAGEMENT_HOSTS: 'Crosswalk.example.org, *.lan' },
      expect: { managementHosts: ['crosswalk.example.org', '*.lan'] },
    },
    { env: { SECRETS_ALLOW: 'none' }, expect: { secretsAllowed: { names: [], folders: [] } } },
    {
      env: { SECRETS_ALLOW: 'A_*, /x/y ,/z/' },
      expect: { secretsAllowed: { names: ['A_*'], folders: ['/x/y', '/z/'] } },
    },
    { env: { EGRESS_PRIVATE: 'DENY' }, expect: { egressPrivate: 'deny' } },
    {
      env: { EGRESS_ALLOW: '*.Example.org:443 , api' },
      expect: {
        egressAllow: [
          { kind: 'host', pattern: '*.example.org', ports: [443, 443] },
          { kind: 'host', pattern: 'api', ports: [0, 65_535] },
        ],
      },
    },
    {
      env: { EGRESS_DENY: '10.0.0.0/8' },
      expect: { egressDeny: [{ kind: 'range', range: { family: 4, base: 10n, bits: 8 }, ports: [0, 65_535] }] },
    },
    {
      env: { OPENHIM_CALLERS: '10.0.0.0/8, ::1' },
      expect: {
        openhimCallers: [
          { family: 4, base: 10n, bits: 8 },
          { family: 6, base: 1n, bits: 128 },
        ],
      },
    },
    { env: { MEDIATOR_URN: 'urn:mediator:a/b' }, expect: { mediatorUrn: 'urn:mediator:a/b' } },
    { env: { OPENHIM_ORCHESTRATIONS: 'Bodies' }, expect: { openhimOrchestrations: 'bodies' } },
    { env: { SHUTDOWN_TIMEOUT_MS: '0' }, expect: { shutdownTimeoutMs: 0 } },
    { env: { DATABASE_URL: 'sqlite:/data/crosswalk.db' }, expect: { databaseUrl: 'sqlite:/data/crosswalk.db' } },
  ]
  for (const { env, expect } of cases) {
    test(JSON.stringify(env), () => {
      const settings = settingsOf(env)
      assert.deepEqual({ ...settings, ...expect }, settings)
    })
  }
})

describe('faults', () => {
  const cases: readonly { env: Env; fault: RegExp }[] = [
    { env: { SERVER_PORT: '65536' }, fault: /^SERVER_PORT is "65536"\. Give a whole number from 0 to 65535\.$/ },
    { env: { SERVER_PORT: '-1' }, fault: /^SERVER_PORT is "-1"/ },
    { env: { SERVER_PORT: '0x10' }, fault: /^SERVER_PORT/ },
    { env: { SERVER_PORT: '80.5' }, fault: /^SERVER_PORT/ },
    { env: { SERVER_PORT: '1e3' }, fault: /^SERVER_PORT/ },
    {
      env: { ADMIN_PORT: '3003' },
      fault: /^SERVER_PORT and ADMIN_PORT are both 3003\. Give each a port of its own\.$/,
    },
    { env: { ADMIN_PORT: '3003', ADMIN_HOST: '::' }, fault: /^SERVER_PORT and ADMIN_PORT are both 3003/ },
    { env: { HOST: '127.0.0.1:80' }, fault: /^HOST is "127\.0\.0\.1:80"\. Give an IP address or a host name/ },
    { env: { HOST: '127.0.0.256' }, fault: /^HOST/ },
    { env: { HOST: 'http://localhost' }, fault: /^HOST/ },
    { env: { HOST: '[::1]' }, fault: /^HOST/ },
    { env: { KAFKA_TLS: 'constructor' }, fault: /^KAFKA_TLS is "constructor"\. Give `true` or `false`\.$/ },
    { env: { KAFKA_TLS: '__proto__' }, fault: /^KAFKA_TLS is "__proto__"\. Give `true` or `false`\.$/ },
    { env: { ENABLE_LOGGING: 'no' }, fault: /^ENABLE_LOGGING is "no"\. Give `true` or `false`\.$/ },
    { env: { LOG_LEVEL: 'verbose' }, fault: /^LOG_LEVEL is "verbose"\. Give `trace`, .* or `silent`\.$/ },
    { env: { PARSER_LIMIT: '101mb' }, fault: /^PARSER_LIMIT is "101mb"\. Give a size .* at most 100mb\.$/ },
    { env: { PARSER_LIMIT: '0' }, fault: /^PARSER_LIMIT/ },
    { env: { PARSER_LIMIT: '1gb' }, fault: /^PARSER_LIMIT/ },
    { env: { PARSER_LIMIT: 'mb' }, fault: /^PARSER_LIMIT/ },
    { env: { REQUEST_TIMEOUT_MS: '0' }, fault: /^REQUEST_TIMEOUT_MS/ },
    { env: { REQUEST_TIMEOUT_MS: '2147483648' }, fault: /^REQUEST_TIMEOUT_MS/ },
    { env: { MANAGEMENT_AUTH: 'on' }, fault: /^MANAGEMENT_AUTH is "on"\. Give `keys`, `oidc` or `off`\.$/ },
    { env: { MANAGEMENT_HOSTS: 'a.example:3004' }, fault: /^MANAGEMENT_HOSTS is .*without ports/ },
    { env: { MANAGEMENT_AUTH: 'oidc' }, fault: /^MANAGEMENT_AUTH is oidc\. Give MANAGEMENT_OIDC_ISSUER and/ },
    {
      env: { MANAGEMENT_AUTH: 'oidc', MANAGEMENT_OIDC_ISSUER: 'https://id.example.org/' },
      fault: /and MANAGEMENT_OIDC_AUDIENCE as well/,
    },
    {
      env: { MANAGEMENT_OIDC_AUDIENCE: 'crosswalk' },
      fault: /^MANAGEMENT_OIDC_… is given, but MANAGEMENT_AUTH is not/,
    },
    {
      env: { MANAGEMENT_AUTH: 'keys', MANAGEMENT_OIDC_ISSUER: 'https://id.example.org' },
      fault: /MANAGEMENT_AUTH is not oidc/,
    },
    { env: { MANAGEMENT_OIDC_ISSUER: 'id.example.org' }, fault: /^MANAGEMENT_OIDC_ISSUER is .* `https:\/\/`/ },
    { env: { MANAGEMENT_OIDC_JWKS_URL: 'https://a:b@id.example' }, fault: /without credentials/ },
    { env: { MANAGEMENT_OIDC_ROLES_CLAIM: 'a b' }, fault: /^MANAGEMENT_OIDC_ROLES_CLAIM/ },
    { env: { AUDIT_DAYS: '0' }, fault: /^AUDIT_DAYS/ },
    { env: { SERVER_REQUEST_TIMEOUT_MS: '5000' }, fault: /^SERVER_HEADERS_TIMEOUT_MS is 10000, more than/ },
    { env: { DATABASE_URL: 'postgres://u:s3cr3t@/x' }, fault: /^DATABASE_URL is wrong\. .* percent-encoded/ },
    { env: { DATABASE_URL: 'postgres://u:s3cr3t@db' }, fault: /percent-encoded/ },
    { env: { DATABASE_URL: 'postgresql://u:s3cr3t#@db/x' }, fault: /percent-encoded/ },
    { env: { DATABASE_URL: 'postgres://u:s3cr3t/x@db:5432/x' }, fault: /percent-encoded/ },
    { env: { DATABASE_POOL_SIZE: '0' }, fault: /DATABASE_POOL_SIZE/ },
    { env: { SECRETS_ALLOW: 'relative/folder' }, fault: /^SECRETS_ALLOW is .* Give names of variables/ },
    { env: { SECRETS_ALLOW: '/a/../b' }, fault: /^SECRETS_ALLOW/ },
    { env: { SECRETS_ALLOW: '/' }, fault: /^SECRETS_ALLOW/ },
    { env: { EGRESS_ALLOW: 'http://example.org' }, fault: /^EGRESS_ALLOW is .* Give nothing, or hosts/ },
    { env: { EGRESS_DENY: '10.0.0.0/33' }, fault: /^EGRESS_DENY/ },
    { env: { EGRESS_PRIVATE: 'no' }, fault: /^EGRESS_PRIVATE is "no"\. Give `allow` or `deny`\.$/ },
    {
      env: { OPENHIM_REGISTER: 'true', OPENHIM_USERNAME: 'me', OPENHIM_PASSWORD: 's3cr3t' },
      fault: /^OPENHIM_REGISTER is true\. Give OPENHIM_USERNAME, OPENHIM_PASSWORD and MEDIATOR_URN as well\.$/,
    },
    { env: { OPENHIM_URL: 'https://u:s3cr3t@core:8080' }, fault: /^OPENHIM_URL is wrong/ },
    { env: { OPENHIM_USERNAME: 'a:b' }, fault: /^OPENHIM_USERNAME is / },
    { env: { OPENHIM_PASSWORD: '?' }, fault: /^OPENHIM_PASSWORD is wrong\. / },
    { env: { OPENHIM_CALLERS: 'core.example.org' }, fault: /^OPENHIM_CALLERS is / },
    {
      env: { MEDIATOR_URL: 'http://crosswalk:3003/path' },
      fault: /^MEDIATOR_URL is wrong\. .* without credentials, path/,
    },
    { env: { MEDIATOR_URN: 'urn:mediator:a%20b' }, fault: /^MEDIATOR_URN is / },
    { env: { DATABASE_URL: 'mysql://u:s3cr3t@db/x' }, fault: /^DATABASE_URL is wrong\. Give `sqlite:`/ },
    { env: { DATABASE_URL: 'sqlite:' }, fault: /^DATABASE_URL is wrong\. Give `sqlite:`/ },
    { env: { DATABASE_URL: 'sqlite://data/x.db' }, fault: /^DATABASE_URL is wrong\. Give a relative path as/ },
  ]
  for (const { env, fault } of cases) {
    test(JSON.stringify(env), () => {
      const faults = faultsOf(env)
      assert.equal(faults.length, 1, faults.join('\n'))
      assert.match(faults[0] ?? '', fault)
      assert.doesNotMatch(faults[0] ?? '', /s3cr3t/)
    })
  }

  test('all wrong settings are reported at once, in the order of the table', () => {
    const wrong = Object.fromEntries(Object.values(SETTINGS).map(({ name }) => [name, '?']))
    const reported = faultsOf(wrong).map((line) => line.split(' ')[0])
    assert.deepEqual(
      reported,
      Object.values(SETTINGS).map(({ name }) => name),
    )
  })

  test('whatever the values are, each fault is one short line, and nothing throws', () => {
    const names = Object.values(SETTINGS).map(({ name }) => name)
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.string({ unit: 'binary' })), (env) => {
        for (const line of faultsOf(env)) assert.ok(!/[\r\n]/.test(line) && line.length < 400, line)
      }),
    )
  })
})

describe('warnings', () => {
  const cases: readonly { name: string; warns: string | undefined }[] = [
    { name: 'PARSER_LIMT', warns: 'PARSER_LIMT is not a setting and has no effect; did you mean PARSER_LIMIT?' },
    { name: 'server_port', warns: 'server_port is not a setting and has no effect; did you mean SERVER_PORT?' },
    { name: 'LOG_LEVLE', warns: 'LOG_LEVLE is not a setting and has no effect; did you mean LOG_LEVEL?' },
    {
      name: 'FOREACH_MAXITEMS',
      warns: 'FOREACH_MAXITEMS is not a setting and has no effect; did you mean FOREACH_MAX_ITEMS?',
    },
    {
      name: 'KAFKA_SHARDS',
      warns: 'KAFKA_SHARDS is not a setting of this version and has no effect; `--help` lists all settings.',
    },
    { name: 'LOG_DIRECTORY_OF_ANOTHER_PROGRAM', warns: undefined },
    { name: 'PORT', warns: undefined },
    { name: 'HOSTNAME', warns: undefined },
    { name: 'PATH', warns: undefined },
    { name: 'SERVER_PORT', warns: undefined },
  ]
  for (const { name, warns } of cases) {
    test(name, () => assert.deepEqual(warningsOf({ [name]: '1' }), warns === undefined ? [] : [warns]))
  }
})

describe('the table', () => {
  test('has every setting in one group, under a name of its own', () => {
    const grouped = SETTING_GROUPS.flatMap(({ settings }) => settings.map(({ name }) => name))
    const all = Object.values(SETTINGS).map(({ name }) => name)
    assert.deepEqual(grouped.toSorted(), all.toSorted())
    assert.equal(new Set(all).size, all.length)
  })

  test('--help shows every setting with its default, in 80 columns and without links', () => {
    const lines = settingsHelp().split('\n')
    for (const setting of Object.values(SETTINGS)) {
      assert.ok(lines.includes(`  ${setting.name}=${setting.default}`), setting.name)
    }
    assert.deepEqual(
      lines.filter((line) => line.length > 80 || line.includes('](')),
      [],
    )
  })
})

describe('a .env file', () => {
  const set = 'CROSSWALK_TEST_SET'
  const unset = 'CROSSWALK_TEST_UNSET'

  test('adds what is not set, leaves what is, may be absent, and must be readable', (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'crosswalk-env-'))
    t.after(() => {
      delete process.env[set]
      delete process.env[unset]
      rmSync(directory, { recursive: true })
    })
    const path = join(directory, '.env')
    writeFileSync(path, `# a comment\n${set}=from the file\n${unset}="from the file"\n`)
    process.env[set] = 'from outside'
    assert.deepEqual(loadEnvFile(path), { ok: true, value: 'loaded' })
    assert.deepEqual([process.env[set], process.env[unset]], ['from outside', 'from the file'])

    assert.deepEqual(loadEnvFile(join(directory, 'absent')), { ok: true, value: 'absent' })

    mkdirSync(join(directory, 'folder'))
    const reading = loadEnvFile(join(directory, 'folder'))
    assert.match(reading.ok ? '' : reading.message, /^The settings file ".*folder" cannot be read \(\w+\)\. Make it/)
  })
})
