/**
 * What somebody would write by hand for the one message of the sample, with nothing but node:http: the yardstick.
 * It tells its port on standard output as the service does.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Registration = Readonly<Record<'mrn' | 'firstName' | 'lastName' | 'sex' | 'bornOn' | 'mobile', string>> &
  Readonly<{ middleName?: string }>

const GENDERS: Readonly<Record<string, string>> = { F: 'female', M: 'male', O: 'other' }

function toPatient({ mrn, firstName, middleName, lastName, sex, bornOn, mobile }: Registration) {
  return {
    resourceType: 'Patient',
    identifier: [{ value: mrn, system: 'urn:oid:2.16.840.1.113883.19.5' }],
    name: [{ family: lastName, given: middleName === undefined ? [firstName] : [firstName, middleName] }],
    gender: GENDERS[sex] ?? 'unknown',
    birthDate: bornOn.slice(0, 10),
    telecom: [{ value: mobile, system: 'phone' }],
  }
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const registration = JSON.parse(Buffer.concat(chunks).toString()) as Registration
    response.setHeader('content-type', 'application/fhir+json')
    response.end(JSON.stringify(toPatient(registration)))
  })
})

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ messagePort: port })}\n`)
})
process.on('SIGTERM', () => process.exit(0))
