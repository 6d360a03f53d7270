/** A broker that is reached over TLS and asks who is there. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { consumerUntil, countUntil } from '../../support/broker/broker.ts'
import { json, type Service, startService } from '../../support/service.ts'
import { freePorts } from '../../support/services/free-ports.ts'
import { whyNoJava } from '../../support/services/java-class-path.ts'
import { servicesRequired } from '../../support/services/service-process.ts'
import { startKafka } from '../../support/services/start-kafka.ts'
import { openTopics } from '../../support/services/topics.ts'
import { freshFolder } from '../../support/spawned-service.ts'

const noJava = servicesRequired() ? undefined : await whyNoJava()
const skip = noJava === undefined ? false : `no Kafka broker of our own: ${noJava}`

describe('TLS and SASL', { skip }, async () => {
  const folder = skip === false ? freshFolder({ after }) : ''
  const credentials = { username: 'crosswalk', password: 'a password' }
  const [port, mutualPort] = await freePorts()
  const makeCertificate = (name: string) => {
    const [cert, key] = [join(folder, `${name}-cert.pem`), join(folder, `${name}-key.pem`)]
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`]
    const names = ['-addext', 'subjectAltName=DNS:localhost']
    execFileSync('openssl', [...request, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { cert, key, certPem: readFileSync(cert, 'utf8'), keyPem: readFileSync(key, 'utf8') }
  }
  if (skip !== false) return
  const [server, client, stranger] = ['localhost', 'client', 'stranger'].map(makeCertificate) as [
    ReturnType<typeof makeCertificate>,
    ReturnType<typeof makeCertificate>,
    ReturnType<typeof makeCertificate>,
  ]
  const { certPem, keyPem } = server
  const kafka = await startKafka({
    secure: { port, mutualPort, ...credentials, certPem, keyPem, clientCertPem: client.certPem },
  })
  after(kafka.stop)
  const topics = openTopics(kafka.brokers)
  after(topics.close)

  const overTls = (brokerPort: number, env: Record<string, string>) =>
    startService({
      KAFKA_BROKERS: `localhost:${brokerPort}`,
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA_FILE: server.cert,
      ...env,
    })
  const serviceWith = (mechanism: string, password: string) =>
    overTls(port, {
      KAFKA_SASL_MECHANISM: mechanism,
      KAFKA_SASL_USERNAME: credentials.username,
      KAFKA_SASL_PASSWORD: password,
    })
  const passesOn = async (service: Service) => {
    const [topic, out] = [await topics.create(), await topics.create()]
    const producesTo = (name: string) => ({ response: { id: 'out', kafkaProducerTopic: name } })
    await service.register({ endpoint: { pattern: '/in' }, requests: producesTo(topic) })
    await service.register({ endpoint: { pattern: '/on' }, kafkaConsumerTopic: topic, requests: producesTo(out) })
    assert.equal((await service.fetch('/in', json('POST', { a: 1 }))).status, 200)
    await countUntil(topics, out, 1)
  }
  const firstErrorOf = async (service: Service) => {
    const topic = await topics.create()
    const { _id } = await service.register({ endpoint: { pattern: '/in' }, kafkaConsumerTopic: topic })
    return consumerUntil(service, _id, (one) => one.lastError !== undefined)
  }

  test('a client certificate: what is produced to a topic is consumed from it', async (t) => {
    const service = await overTls(mutualPort, { KAFKA_TLS_CERT_FILE: client.cert, KAFKA_TLS_KEY_FILE: client.key })
    t.after(service.stop)
    await passesOn(service)
  })

  for (const [name, env] of [
    ['no client certificate', {}],
    ['another one', { KAFKA_TLS_CERT_FILE: stranger.cert, KAFKA_TLS_KEY_FILE: stranger.key }],
  ] as const) {
    test(`${name}, where the broker asks for one: that is reported, and nothing is produced`, async (t) => {
      const service = await overTls(mutualPort, env)
      t.after(service.stop)
      const status = await firstErrorOf(service)
      assert.equal(status?.state, 'connecting')
      await service.register({
        endpoint: { pattern: '/out' },
        requests: { response: { id: 'out', kafkaProducerTopic: await topics.create(), timeoutMs: 3_000 } },
      })
      const { status: answered } = await service.fetch('/out', json('POST', { a: 1 }))
      assert.ok(answered === 502 || answered === 504, `answered with ${answered}`)
    })
  }

  for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']) {
    test(`${mechanism}: what is produced to a topic is consumed from it`, async (t) => {
      const service = await serviceWith(mechanism, credentials.password)
      t.after(service.stop)
      await passesOn(service)
    })

    test(`${mechanism}: a wrong password is reported, and shown nowhere`, async (t) => {
      const service = await serviceWith(mechanism, 'another password')
      t.after(service.stop)
      const status = await firstErrorOf(service)
      assert.equal(status?.state, 'connecting')
      assert.match(status?.lastError?.message ?? '', /authenticat|SASL/i)
      assert.ok(!JSON.stringify([status, service.log]).includes('another password'))
    })
  }
})
