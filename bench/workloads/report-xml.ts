/** W4: a laboratory report of about 1 KB, from XML to JSON and from JSON to XML. */
import { SaxesParser } from 'saxes'
import type { Workload } from './workload.ts'

type Attributes<Name extends string> = Readonly<{ $: Readonly<Record<Name, string>> }>
type LabReport = Attributes<'id' | 'status'> &
  Readonly<{
    patient: Readonly<{ id: string; family: string; given: string; birthDate: string }>
    result: readonly (Attributes<'code'> &
      Readonly<{ name: string; value: Attributes<'unit'> & Readonly<{ _: string }> }>)[]
  }>

const RESULTS = [
  ['718-7', 'Hemoglobin', '13.2', 'g/dL'],
  ['4544-3', 'Hematocrit', '39.8', '%'],
  ['6690-2', 'Leukocytes', '7.1', '10*3/uL'],
  ['777-3', 'Platelets & their like', '251', '10*3/uL'],
  ['2345-7', 'Glucose', '94', 'mg/dL'],
  ['2160-0', 'Creatinine', '0.9', 'mg/dL'],
  ['2951-2', 'Sodium', '140', 'mmol/L'],
] as const

const REPORT: LabReport = {
  $: { id: 'r-20417', status: 'final' },
  patient: { id: 'p-10021', family: 'Okafor', given: 'Amara', birthDate: '1984-07-19' },
  result: RESULTS.map(([code, name, value, unit]) => ({ $: { code }, name, value: { _: value, $: { unit } } })),
}

/** As XML, in the order that both the document and the message have; the result is the message of one and the answer of the other. */
function writeReport(output: unknown): string {
  const { labReport } = output as { labReport: LabReport }
  const escaped = (value: string) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const { $, patient, result } = labReport
  let xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
  xml += `\n<labReport id="${escaped($.id)}" status="${escaped($.status)}">\n  <patient>`
  xml += `\n    <id>${escaped(patient.id)}</id>\n    <family>${escaped(patient.family)}</family>`
  xml += `\n    <given>${escaped(patient.given)}</given>\n    <birthDate>${escaped(patient.birthDate)}</birthDate>`
  xml += '\n  </patient>'
  for (const { $, name, value } of result) {
    xml += `\n  <result code="${escaped($.code)}">\n    <name>${escaped(name)}</name>`
    xml += `\n    <value unit="${escaped(value.$.unit)}">${escaped(value._)}</value>\n  </result>`
  }
  return `${xml}\n</labReport>`
}

type Element = { [name: string]: unknown }

/** The part of XML that the report needs, with a parser that refuses malformed documents. */
function readReport(text: string): LabReport {
  const parser = new SaxesParser({ position: false })
  const open: { content: Element | undefined; text: string }[] = []
  let root: unknown
  parser.on('opentag', ({ attributes }) => {
    let content: Element | undefined
    for (const name in attributes) {
      content ??= { $: {} }
      ;(content.$ as Element)[name] = attributes[name]
    }
    open.push({ content, text: '' })
  })
  parser.on('text', (part) => {
    const element = open.at(-1)
    if (element !== undefined) element.text += part
  })
  parser.on('closetag', ({ name }) => {
    const { content, text } = open.pop() as (typeof open)[number]
    const trimmed = text.trim()
    if (content !== undefined && trimmed !== '') content._ = trimmed
    const value = content ?? trimmed
    const parent = open.at(-1)
    if (parent === undefined) {
      root = value
      return
    }
    parent.content ??= {}
    const before = parent.content[name]
    if (before === undefined) parent.content[name] = value
    else if (Array.isArray(before)) before.push(value)
    else parent.content[name] = [before, value]
  })
  parser.on('error', (fault) => {
    throw fault
  })
  parser.write(text).close()
  return root as LabReport
}

export const xmlToJson: Workload = {
  id: 'W4 in',
  title: '1 KB XML to JSON',
  message: writeReport({ labReport: REPORT }),
  contentType: 'application/xml',
  document: () => ({
    name: 'Laboratory report from XML',
    endpoint: { pattern: '/lab-reports' },
    transformation: { input: 'XML', output: 'JSON' },
    inputMapping: {
      'requestBody.$.id': 'id',
      'requestBody.$.status': 'status',
      'requestBody.patient.id': 'patient.id',
      'requestBody.patient.family': 'patient.name.family',
      'requestBody.patient.given': 'patient.name.given',
      'requestBody.patient.birthDate': 'patient.birthDate',
      'requestBody.result[].$.code': 'results[].code',
      'requestBody.result[].name': 'results[].name',
      'requestBody.result[].value._': 'results[].value',
      'requestBody.result[].value.$.unit': 'results[].unit',
    },
  }),
  hand: {
    parse: readReport,
    map: ({ $, patient, result }: LabReport) => ({
      id: $.id,
      status: $.status,
      patient: {
        id: patient.id,
        name: { family: patient.family, given: patient.given },
        birthDate: patient.birthDate,
      },
      results: result.map(({ $, name, value }) => ({ code: $.code, name, value: value._, unit: value.$.unit })),
    }),
    contentType: 'application/json',
  },
}

type FlatReport = Readonly<{
  id: string
  status: string
  patient: LabReport['patient']
  results: readonly Readonly<Record<'code' | 'name' | 'value' | 'unit', string>>[]
}>

const FLAT_REPORT: FlatReport = {
  id: REPORT.$.id,
  status: REPORT.$.status,
  patient: REPORT.patient,
  results: RESULTS.map(([code, name, value, unit]) => ({ code, name, value, unit })),
}

export const jsonToXml: Workload & Readonly<{ output: { labReport: LabReport } }> = {
  id: 'W4 out',
  title: 'JSON to 1 KB XML',
  message: JSON.stringify(FLAT_REPORT),
  contentType: 'application/json',
  document: () => ({
    name: 'Laboratory report to XML',
    endpoint: { pattern: '/lab-reports-as-json' },
    transformation: { input: 'JSON', output: 'XML' },
    inputMapping: {
      'requestBody.id': 'labReport.$.id',
      'requestBody.status': 'labReport.$.status',
      'requestBody.patient.id': 'labReport.patient.id',
      'requestBody.patient.family': 'labReport.patient.family',
      'requestBody.patient.given': 'labReport.patient.given',
      'requestBody.patient.birthDate': 'labReport.patient.birthDate',
      'requestBody.results[].code': 'labReport.result[].$.code',
      'requestBody.results[].name': 'labReport.result[].name',
      'requestBody.results[].value': 'labReport.result[].value._',
      'requestBody.results[].unit': 'labReport.result[].value.$.unit',
    },
  }),
  hand: {
    map: ({ id, status, patient, results }: FlatReport) => ({
      labReport: {
        $: { id, status },
        patient,
        result: results.map(({ code, name, value, unit }) => ({ $: { code }, name, value: { _: value, $: { unit } } })),
      },
    }),
    serialise: writeReport,
    contentType: 'application/xml',
  },
  output: { labReport: REPORT },
}
