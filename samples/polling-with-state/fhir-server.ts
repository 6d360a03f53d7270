/** The part of a FHIR server that the sample polls: a search by the time of the last update, in pages. */
import type { Answering } from '../../test/service.ts'

type Coded = Readonly<{ system: string; code: string; display: string }>

const observation = (id: string, lastUpdated: string, patient: string, coded: Coded, value: number, unit: string) => ({
  resourceType: 'Observation',
  id,
  meta: { versionId: '1', lastUpdated },
  status: 'final',
  category: [
    { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }] },
  ],
  code: { coding: [coded] },
  subject: { reference: `Patient/${patient}` },
  effectiveDateTime: lastUpdated.replace(/T.*/, ''),
  valueQuantity: { value, unit, system: 'http://unitsofmeasure.org', code: unit },
})

const loinc = (code: string, display: string): Coded => ({ system: 'http://loinc.org', code, display })
const hemoglobin = loinc('718-7', 'Hemoglobin [Mass/volume] in Blood')
const potassium = loinc('2823-3', 'Potassium [Moles/volume] in Serum or Plasma')

const held = [
  observation('o-1', '2026-03-04T07:58:10.120Z', 'p-10021', hemoglobin, 11.2, 'g/dL'),
  observation('o-2', '2026-03-04T08:41:37.904Z', 'p-10034', potassium, 4.1, 'mmol/L'),
  observation('o-3', '2026-03-04T09:12:05.333Z', 'p-10021', potassium, 5.6, 'mmol/L'),
]

export type FhirServer = {
  /** The server's time: what came later is not there yet. */
  now: string
  /** Results in one answer, at most. */
  pageSize: number
  /** What is wrong with it: it refuses, or drops the connection. */
  trouble: 'none' | 'refuses' | 'drops'
}

/** Answers as `server` stands when the request comes. */
export const answerAs =
  (server: FhirServer): Answering =>
  ({ url }, response) => {
    if (server.trouble === 'drops') {
      response.destroy()
      return undefined
    }
    if (server.trouble === 'refuses') {
      response.writeHead(503, { 'content-type': 'text/plain' }).end('The server is being restarted.')
      return undefined
    }
    const since = new URL(url, 'http://fhir').searchParams.get('_lastUpdated')?.replace(/^ge/, '') ?? ''
    const found = held.filter(({ meta: { lastUpdated } }) => lastUpdated >= since && lastUpdated <= server.now)
    const page = found.slice(0, server.pageSize)
    return {
      resourceType: 'Bundle',
      type: 'searchset',
      meta: { lastUpdated: server.now },
      total: found.length,
      // FHIR knows no empty arrays: a Bundle without results has no entry.
      ...(page.length === 0 ? {} : { entry: page.map((resource) => ({ resource })) }),
      ...(page.length === found.length ? {} : { link: [{ relation: 'next', url: 'http://fhir.example.org/page/2' }] }),
    }
  }
