import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { loadEnvFile, readSettings, type Settings } from '../../../src/settings/settings.ts'
import { settingsHelp } from '../../../src/settings/settings-help.ts'
import { SETTING_GROUPS, SETTINGS } from '../../../src/settings/settings-table.ts'
import fc from '../../support/fast-check.ts'

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

  const cases: readonly (readonly [env: Env, expect: Partial<Settings>])[] = [
    // One default of each kind; docs/settings.md shows all.
    [{}, { serverPort: 3003, host: '127.0.0.1', publicUrl: undefined, enableLogging: true, managementHosts: [] }],
    [{}, { parserLimitBytes: 1_048_576, messageLog: 'failures', messageMaxBytes: undefined }],
    [{}, { secretsAllowed: { names: ['CROSSWALK_SECRET_*'], folders: ['/run/secrets/crosswalk'] } }],
    [{}, { kafkaRetryPausesMs: [1000, 5000, 30_000, 120_000], otlpHeaders: {}, otelSamplerRatio: 1 }],
    [{ SERVER_PORT: '0' }, { serverPort: 0 }],
    [{ SERVER_PORT: ' 65535 ' }, { serverPort: 65_535 }],
    [
      { SERVER_PORT: '0', ADMIN_PORT: '0' },
      { serverPort: 0, adminPort: 0 },
    ],
    [{ HOST: '0.0.0.0' }, { host: '0.0.0.0' }],
    [
      { DATABASE_URL: 'postgres://u:p%40ss@db:5433/x?sslmode=verify-full' },
      { databaseUrl: 'postgres://u:p%40ss@db:5433/x?sslmode=verify-full' },
    ],
    [{ DATABASE_URL: 'postgresql:///x?host=/run/postgresql' }, { databaseUrl: 'postgresql:///x?host=/run/postgresql' }],
    [{ HOST: '::1' }, { host: '::1' }],
    [{ ADMIN_HOST: 'crosswalk-1.internal' }, { adminHost: 'crosswalk-1.internal' }],
    [
      { SERVER_PORT: '80', ADMIN_PORT: '80', HOST: '10.0.0.1' },
      { serverPort: 80, adminPort: 80 },
    ],
    [{ ENABLE_LOGGING: 'FALSE' }, { enableLogging: false }],
    [{ LOG_LEVEL: 'Warn' }, { logLevel: 'warn' }],
    [{ LOG_MESSAGES: 'all' }, { logMessages: 'all' }],
    [{ PARSER_LIMIT: '512kb' }, { parserLimitBytes: 524_288 }],
    [{ PARSER_LIMIT: '1.5 MB' }, { parserLimitBytes: 1_572_864 }],
    [{ PARSER_LIMIT: '2000' }, { parserLimitBytes: 2000 }],
    [{ PARSER_LIMIT: '2000b' }, { parserLimitBytes: 2000 }],
    [{ ANSWER_LIMIT: '100mb' }, { answerLimitBytes: 104_857_600 }],
    [{ MANAGEMENT_AUTH: 'KEYS' }, { managementAuth: 'keys' }],
    [{ MANAGEMENT_AUTH: 'off' }, { managementAuth: 'off' }],
    [{ MANAGEMENT_HOSTS: 'Crosswalk.example.org, *.lan' }, { managementHosts: ['crosswalk.example.org', '*.lan'] }],
    [{ SECRETS_ALLOW: 'none' }, { secretsAllowed: { names: [], folders: [] } }],
    [{ SECRETS_ALLOW: 'A_*, /x/y ,/z/' }, { secretsAllowed: { names: ['A_*'], folders: ['/x/y', '/z/'] } }],
    [{ EGRESS_PRIVATE: 'DENY' }, { egressPrivate: 'deny' }],
    [
      { EGRESS_ALLOW: '*.Example.org:443 , api' },
      {
        egressAllow: [
          { kind: 'host', pattern: '*.example.org', ports: [443, 443] },
          { kind: 'host', pattern: 'api', ports: [0, 65_535] },
        ],
      },
    ],
    [
      { EGRESS_DENY: '10.0.0.0/8' },
      { egressDeny: [{ kind: 'range', range: { family: 4, base: 10n, bits: 8 }, ports: [0, 65_535] }] },
    ],
    [
      { OPENHIM_CALLERS: '10.0.0.0/8, ::1' },
      {
        openhimCallers: [
          { family: 4, base: 10n, bits: 8 },
          { family: 6, base: 1n, bits: 128 },
        ],
      },
    ],
    [{ MEDIATOR_URN: 'urn:mediator:a/b' }, { mediatorUrn: 'urn:mediator:a/b' }],
    [{ OPENHIM_ORCHESTRATIONS: 'Bodies' }, { openhimOrchestrations: 'bodies' }],
    [{ SHUTDOWN_TIMEOUT_MS: '0' }, { shutdownTimeoutMs: 0 }],
    [{ DATABASE_URL: 'sqlite:/data/crosswalk.db' }, { databaseUrl: 'sqlite:/data/crosswalk.db' }],
  ]
  for (const [env, expect] of cases) {
    test(JSON.stringify(env), () => {
      const settings = settingsOf(env)
      assert.deepEqual({ ...settings, ...expect }, settings)
    })
  }
})

describe('faults', () => {
  const cases: readonly (readonly [env: Env, fault: RegExp])[] = [
    [{ SERVER_PORT: '65536' }, /^SERVER_PORT is "65536"\. Give a whole number from 0 to 65535\.$/],
    [{ SERVER_PORT: '-1' }, /^SERVER_PORT is "-1"/],
    [{ SERVER_PORT: '0x10' }, /^SERVER_PORT/],
    [{ SERVER_PORT: '80.5' }, /^SERVER_PORT/],
    [{ SERVER_PORT: '1e3' }, /^SERVER_PORT/],
    [{ ADMIN_PORT: '3003' }, /^SERVER_PORT and ADMIN_PORT are both 3003\. Give each a port of its own\.$/],
    [{ ADMIN_PORT: '3003', ADMIN_HOST: '::' }, /^SERVER_PORT and ADMIN_PORT are both 3003/],
    [{ HOST: '127.0.0.1:80' }, /^HOST is "127\.0\.0\.1:80"\. Give an IP address or a host name/],
    [{ HOST: '127.0.0.256' }, /^HOST/],
    [{ HOST: 'http://localhost' }, /^HOST/],
    [{ HOST: '[::1]' }, /^HOST/],
    [{ KAFKA_TLS: 'constructor' }, /^KAFKA_TLS is "constructor"\. Give `true` or `false`\.$/],
    [{ KAFKA_TLS: '__proto__' }, /^KAFKA_TLS is "__proto__"\. Give `true` or `false`\.$/],
    [{ ENABLE_LOGGING: 'no' }, /^ENABLE_LOGGING is "no"\. Give `true` or `false`\.$/],
    [{ LOG_LEVEL: 'verbose' }, /^LOG_LEVEL is "verbose"\. Give `trace`, .* or `silent`\.$/],
    [{ PARSER_LIMIT: '101mb' }, /^PARSER_LIMIT is "101mb"\. Give a size .* at most 100mb\.$/],
    [{ PARSER_LIMIT: '0' }, /^PARSER_LIMIT/],
    [{ PARSER_LIMIT: '1gb' }, /^PARSER_LIMIT/],
    [{ PARSER_LIMIT: 'mb' }, /^PARSER_LIMIT/],
    [{ REQUEST_TIMEOUT_MS: '0' }, /^REQUEST_TIMEOUT_MS/],
    [{ REQUEST_TIMEOUT_MS: '2147483648' }, /^REQUEST_TIMEOUT_MS/],
    [{ MANAGEMENT_AUTH: 'on' }, /^MANAGEMENT_AUTH is "on"\. Give `keys`, `oidc` or `off`\.$/],
    [{ MANAGEMENT_HOSTS: 'a.example:3004' }, /^MANAGEMENT_HOSTS is .*without ports/],
    [{ MANAGEMENT_AUTH: 'oidc' }, /^MANAGEMENT_AUTH is oidc\. Give MANAGEMENT_OIDC_ISSUER and/],
    [
      { MANAGEMENT_AUTH: 'oidc', MANAGEMENT_OIDC_ISSUER: 'https://id.example.org/' },
      /and MANAGEMENT_OIDC_AUDIENCE as well/,
    ],
    [{ MANAGEMENT_OIDC_AUDIENCE: 'crosswalk' }, /^MANAGEMENT_OIDC_… is given, but MANAGEMENT_AUTH is not/],
    [{ MANAGEMENT_AUTH: 'keys', MANAGEMENT_OIDC_ISSUER: 'https://id.example.org' }, /MANAGEMENT_AUTH is not oidc/],
    [{ MANAGEMENT_OIDC_ISSUER: 'id.example.org' }, /^MANAGEMENT_OIDC_ISSUER is .* `https:\/\/`/],
    [{ MANAGEMENT_OIDC_JWKS_URL: 'https://a:b@id.example' }, /without credentials/],
    [{ MANAGEMENT_OIDC_CLIENT_ID: 'console' }, /MANAGEMENT_AUTH is not oidc/],
    [{ MANAGEMENT_OIDC_SCOPE: 'profile' }, /^MANAGEMENT_OIDC_SCOPE is .*`openid` among them/],
    [{ MANAGEMENT_OIDC_ROLES_CLAIM: 'a b' }, /^MANAGEMENT_OIDC_ROLES_CLAIM/],
    [{ AUDIT_DAYS: '0' }, /^AUDIT_DAYS/],
    [{ SERVER_REQUEST_TIMEOUT_MS: '5000' }, /^SERVER_HEADERS_TIMEOUT_MS is 10000, more than/],
    [{ DATABASE_URL: 'postgres://u:s3cr3t@/x' }, /^DATABASE_URL is wrong\. .* percent-encoded/],
    [{ DATABASE_URL: 'postgres://u:s3cr3t@db' }, /percent-encoded/],
    [{ DATABASE_URL: 'postgresql://u:s3cr3t#@db/x' }, /percent-encoded/],
    [{ DATABASE_URL: 'postgres://u:s3cr3t/x@db:5432/x' }, /percent-encoded/],
    [{ DATABASE_POOL_SIZE: '0' }, /DATABASE_POOL_SIZE/],
    [{ SECRETS_ALLOW: 'relative/folder' }, /^SECRETS_ALLOW is .* Give names of variables/],
    [{ SECRETS_ALLOW: '/a/../b' }, /^SECRETS_ALLOW/],
    [{ SECRETS_ALLOW: '/' }, /^SECRETS_ALLOW/],
    [{ EGRESS_ALLOW: 'http://example.org' }, /^EGRESS_ALLOW is .* Give nothing, or hosts/],
    [{ EGRESS_DENY: '10.0.0.0/33' }, /^EGRESS_DENY/],
    [{ EGRESS_PRIVATE: 'no' }, /^EGRESS_PRIVATE is "no"\. Give `allow` or `deny`\.$/],
    [
      { OPENHIM_REGISTER: 'true', OPENHIM_USERNAME: 'me', OPENHIM_PASSWORD: 's3cr3t' },
      /^OPENHIM_REGISTER is true\. Give OPENHIM_USERNAME, OPENHIM_PASSWORD and MEDIATOR_URN as well\.$/,
    ],
    [{ OPENHIM_URL: 'https://u:s3cr3t@core:8080' }, /^OPENHIM_URL is wrong/],
    [{ OPENHIM_USERNAME: 'a:b' }, /^OPENHIM_USERNAME is /],
    [{ OPENHIM_PASSWORD: '?' }, /^OPENHIM_PASSWORD is wrong\. /],
    [{ OPENHIM_CALLERS: 'core.example.org' }, /^OPENHIM_CALLERS is /],
    [{ MEDIATOR_URL: 'http://crosswalk:3003/path' }, /^MEDIATOR_URL is wrong\. .* without credentials, path/],
    [{ MEDIATOR_URN: 'urn:mediator:a%20b' }, /^MEDIATOR_URN is /],
    [{ DATABASE_URL: 'mysql://u:s3cr3t@db/x' }, /^DATABASE_URL is wrong\. Give `sqlite:`/],
    [{ DATABASE_URL: 'sqlite:' }, /^DATABASE_URL is wrong\. Give `sqlite:`/],
    [{ DATABASE_URL: 'sqlite://data/x.db' }, /^DATABASE_URL is wrong\. Give a relative path as/],
  ]
  for (const [env, fault] of cases) {
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
  const cases: readonly (readonly [name: string, warns?: string])[] = [
    ['PARSER_LIMT', 'PARSER_LIMT is not a setting and has no effect; did you mean PARSER_LIMIT?'],
    ['server_port', 'server_port is not a setting and has no effect; did you mean SERVER_PORT?'],
    ['LOG_LEVLE', 'LOG_LEVLE is not a setting and has no effect; did you mean LOG_LEVEL?'],
    ['FOREACH_MAXITEMS', 'FOREACH_MAXITEMS is not a setting and has no effect; did you mean FOREACH_MAX_ITEMS?'],
    ['KAFKA_SHARDS', 'KAFKA_SHARDS is not a setting of this version and has no effect; `--help` lists all settings.'],
    ['LOG_DIRECTORY_OF_ANOTHER_PROGRAM'],
    ['PORT'],
    ['HOSTNAME'],
    ['PATH'],
    ['SERVER_PORT'],
  ]
  for (const [name, warns] of cases) {
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
