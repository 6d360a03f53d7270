/** A broker that is reached over TLS and asks who is there. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { json, startService } from '../service.ts'
import { whyNoJava } from '../services/kafka-class-path.ts'
import { servicesRequired } from '../services/service-process.ts'
import { freePorts, startKafka } from '../services/start-kafka.ts'
import { openTopics } from '../services/topics.ts'
import { freshFolder } from '../spawned-service.ts'
import { consumerOf, until } from './broker.ts'

const noJava = servicesRequired() ? undefined : await whyNoJava()
const skip = noJava === undefined ? false : `no Kafka broker of our own: ${noJava}`

describe('TLS and SASL', { skip }, async () => {
  const folder = skip === false ? freshFolder({ after }) : ''
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const credentials = { username: 'crosswalk', password: 'a password' }
  const [port] = await freePorts()
  const makeCertificate = () => {
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost']
    const names = ['-addext', 'subjectAltName=DNS:localhost']
    execFileSync('openssl', [...request, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { keyPem: readFileSync(key, 'utf8'), certPem: readFileSync(cert, 'utf8') }
  }
  if (skip !== false) return
  const kafka = await startKafka({ secure: { port, ...credentials, ...makeCertificate() } })
  after(kafka.stop)
  const topics = openTopics(kafka.brokers)
  after(topics.close)

  const serviceWith = (mechanism: string, password: string) =>
    startService({
      KAFKA_BROKERS: `localhost:${port}`,
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA_FILE: cert,
      KAFKA_SASL_MECHANISM: mechanism,
      KAFKA_SASL_USERNAME: credentials.username,
      KAFKA_SASL_PASSWORD: password,
    })

  for (const mechanism of ['PLAIN', 'SCRAM-SHA-512']) {
    test(`${mechanism}: what is produced to a topic is consumed from it`, async (t) => {
      const service = await serviceWith(mechanism, credentials.password)
      t.after(service.stop)
      const [topic, out] = [await topics.create(), await topics.create()]
      const producesTo = (name: string) => ({ response: { id: 'out', kafkaProducerTopic: name } })
      await service.register({ endpoint: { pattern: '/in' }, requests: producesTo(topic) })
      await service.register({ endpoint: { pattern: '/on' }, kafkaConsumerTopic: topic, requests: producesTo(out) })
      assert.equal((await service.fetch('/in', json('POST', { a: 1 }))).status, 200)
      await until(
        () => topics.count(out),
        (count) => count === 1,
      )
    })

    test(`${mechanism}: a wrong password is told, and shown nowhere`, async (t) => {
      const service = await serviceWith(mechanism, 'another password')
      t.after(service.stop)
      const topic = await topics.create()
      const { _id } = await service.register({ endpoint: { pattern: '/in' }, kafkaConsumerTopic: topic })
      const status = await until(
        () => consumerOf(service, _id),
        (one) => one?.lastError !== undefined,
      )
      assert.equal(status?.state, 'connecting')
      assert.match(status?.lastError?.message ?? '', /authenticat|SASL/i)
      assert.ok(!JSON.stringify([status, service.log]).includes('another password'))
    })
  }
})
