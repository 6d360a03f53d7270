/** A mapping built by hand without JSON: the values that are no path, codes and suggestions, by mouse and by keyboard. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../../src/core/json.ts'
import { JSON_TYPE } from '../../../support/api/access/service-with-keys.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

const PATIENT = {
  uuid: '5946f880-b197-400b-9caa-a3c661d23041',
  identifiers: [{ identifier: '10000X', display: 'OpenMRS ID' }],
  person: {
    gender: 'F',
    birthdate: '03/02/1980',
    dead: false,
    preferredName: { givenName: 'Jane', middleName: 'Q', familyName: 'Doe' },
    preferredAddress: {
      address1: 'Main Road 1',
      cityVillage: 'Cape Town',
      stateProvince: 'WC',
      country: 'ZA',
      postalCode: '8001',
    },
    phone: '555-1',
    email: 'jane@example.org',
    maritalStatus: 'M',
    language: 'en',
  },
}
const SHAPE = {
  resourceType: '',
  id: '',
  identifier: [{ value: '', assigner: { display: '' } }],
  gender: '',
  birthDate: '',
  deceasedBoolean: false,
  name: [{ text: '', family: '', given: [''] }],
  address: [{ line: [''], city: '', state: '', country: '', postalCode: '' }],
  telecom: [{ system: '', value: '' }],
  maritalStatus: { text: '' },
}
/** What somebody does, counted. */
class Hand {
  actions = 0
  readonly #byKeys: boolean
  constructor(byKeys: boolean) {
    this.#byKeys = byKeys
  }
  async press(on: Locator): Promise<void> {
    this.actions += 1
    if (!this.#byKeys) return on.click()
    await on.focus()
    await on.press('Enter')
  }
  async type(into: Locator, text: string): Promise<void> {
    this.actions += 1
    await into.fill(text)
  }
  async key(page: Page, key: string): Promise<void> {
    this.actions += 1
    await page.keyboard.press(key)
  }
  async choose(from: Locator, value: string): Promise<void> {
    this.actions += 1
    await from.selectOption(value)
  }
}

type Hands = Readonly<{ page: Page; hand: Hand; dialog: Locator; done(name: string): Promise<void> }>

function handsOn(page: Page, hand: Hand): Hands {
  const dialog = page.getByRole('dialog')
  return { page, hand, dialog, done: (name) => hand.press(dialog.getByRole('button', { name, exact: true })) }
}

async function typeMessage({ page, hand, dialog, done }: Hands, message: object): Promise<void> {
  await hand.press(page.getByRole('button', { name: 'Type a message …' }))
  await hand.type(dialog.getByLabel('Body'), JSON.stringify(message))
  await done('Run dry')
  await page.getByText('ran dry on').waitFor()
}

async function typeCombo({ page, hand, dialog }: Hands, name: string, text: string): Promise<void> {
  await hand.type(dialog.getByRole('combobox', { name, exact: true }), text)
  // Its list hides the other fields.
  await page.keyboard.press('Tab')
}

async function addValue(hands: Hands, kind: string, target: string, typed: Readonly<Record<string, string>>) {
  const { page, hand, dialog, done } = hands
  await hand.press(page.getByRole('button', { name: 'Add a value …' }))
  await hand.choose(dialog.getByLabel('Kind'), kind)
  for (const [label, text] of Object.entries(typed)) {
    if (label === 'Field') await typeCombo(hands, label, text)
    else await hand.type(dialog.getByRole('textbox', { name: label, exact: true }), text)
  }
  await typeCombo(hands, 'Target', target)
  await done('Add')
  await dialog.waitFor({ state: 'detached' })
}

async function takeSuggestions({ page, hand, dialog }: Hands): Promise<void> {
  await hand.press(page.getByRole('button', { name: 'Suggest entries …' }))
  await dialog.getByRole('checkbox').first().waitFor()
  hand.actions += 1
  await dialog.getByRole('checkbox', { name: /^All / }).check()
  await hand.press(dialog.getByRole('button', { name: /^Add \d+ entr/ }))
  await dialog.waitFor({ state: 'detached' })
}

/** The suggested entry copies the code. */
async function translateGender({ page, hand }: Hands): Promise<void> {
  await hand.press(page.getByRole('grid', { name: 'Entries' }).getByRole('row', { name: /person.gender to gender/ }))
  const detail = page.getByRole('region', { name: 'Selected entry' })
  await hand.choose(detail.getByLabel('Function'), 'mapCodes')
  await hand.type(detail.getByLabel('Codes'), 'F = female\nM\tmale\ndefault = unknown')
  await hand.press(detail.getByRole('button', { name: 'Use these parameters' }))
  await detail.getByText('"female"').waitFor()
}

const NAME = 'requestBody.person.preferredName'
const NAME_PARTS = `${NAME}.givenName, ${NAME}.middleName, ${NAME}.familyName`

async function build(hands: Hands): Promise<void> {
  const { page, hand, dialog, done } = hands
  await typeMessage(hands, PATIENT)
  await hand.press(page.getByRole('button', { name: 'Fields of the output …' }))
  await hand.type(dialog.getByLabel('Text', { exact: true }), JSON.stringify(SHAPE))
  await done('Show its fields')
  await addValue(hands, 'constant', 'resourceType', { Value: 'Patient' })
  await addValue(hands, 'join', 'name[].text', { 'Fields, separated by commas': NAME_PARTS })
  await addValue(hands, 'date', 'birthDate', { Field: 'requestBody.person.birthdate' })
  await takeSuggestions(hands)
  await translateGender(hands)
}

/** A patient as OpenMRS has it. */
const OPENMRS = {
  uuid: '5946f880-b197-400b-9caa-a3c661d23041',
  display: '10000X - Jane Q Doe',
  identifiers: [
    {
      identifier: '10000X',
      identifierType: { uuid: '8d79403a', display: 'OpenMRS ID' },
      location: { uuid: 'aff27d58', display: 'Registration Desk' },
      preferred: true,
    },
  ],
  person: {
    uuid: '5946f880-b197-400b-9caa-a3c661d23041',
    display: 'Jane Q Doe',
    gender: 'F',
    age: 46,
    birthdate: '03/02/1980',
    birthdateEstimated: false,
    dead: false,
    preferredName: {
      uuid: 'f1a2',
      display: 'Jane Q Doe',
      givenName: 'Jane',
      middleName: 'Q',
      familyName: 'Doe',
    },
    preferredAddress: {
      uuid: 'b7c1',
      display: 'Main Road 1',
      address1: 'Main Road 1',
      cityVillage: 'Cape Town',
      countyDistrict: 'City Bowl',
      stateProvince: 'Western Cape',
      country: 'ZA',
      postalCode: '8001',
    },
    attributes: [
      {
        display: 'Telephone Number = 555-1',
        value: '555-1',
        attributeType: { uuid: '14d4f066', display: 'Telephone Number' },
      },
    ],
  },
  voided: false,
}
const FHIR = {
  resourceType: 'Patient',
  id: OPENMRS.uuid,
  identifier: [{ value: '10000X', type: { text: 'OpenMRS ID' }, assigner: { display: 'Registration Desk' } }],
  name: [{ text: 'Jane Q Doe', family: 'Doe', given: ['Jane'] }],
  gender: 'female',
  birthDate: '1980-02-03',
  deceasedBoolean: false,
  telecom: [{ value: '555-1' }],
  address: [
    {
      line: ['Main Road 1'],
      city: 'Cape Town',
      district: 'City Bowl',
      state: 'Western Cape',
      country: 'ZA',
      postalCode: '8001',
    },
  ],
}

async function buildFhir(hands: Hands): Promise<void> {
  const { page, hand, dialog, done } = hands
  await typeMessage(hands, OPENMRS)
  await hand.press(page.getByRole('button', { name: 'Fields of the output …' }))
  await hand.choose(dialog.getByLabel('Kind'), 'fhir')
  await typeCombo(hands, 'Resource', 'Patient')
  await done('Show its fields')
  await addValue(hands, 'constant', 'resourceType', { Value: 'Patient' })
  await addValue(hands, 'join', 'name[].text', { 'Fields, separated by commas': NAME_PARTS })
  await addValue(hands, 'date', 'birthDate', { Field: 'requestBody.person.birthdate' })
  await takeSuggestions(hands)
  await translateGender(hands)
  const filter = page.getByLabel('Fields', { exact: true })
  await hand.type(filter, 'attributes')
  await hand.press(page.getByRole('treegrid', { name: 'Can be read' }).getByRole('row', { name: 'value', exact: true }))
  await hand.key(page, 'm')
  await typeCombo(hands, 'Target of requestBody.person.attributes[].value', 'telecom[].value')
  await done('Connect')
  await dialog.waitFor({ state: 'detached' })
  await hand.type(filter, '')
}

/** Builds the mapping of a new endpoint. Out: its draft once `isDone`. */
async function start(
  test: TestContext,
  way: string,
  make: (hands: Hands) => Promise<void>,
  isDone: (text: string) => boolean,
) {
  const { service, open, page, checkAccessibility } = await openConsole(test)
  const { _id: id } = await service.register({
    name: 'Patients',
    endpoint: { pattern: '/patients' },
    inputMapping: {},
  })
  await open(`endpoints/${id}/mapping`)
  const hand = new Hand(way === 'keyboard')
  await make(handsOn(page, hand))
  const read = async () => {
    const kept = await page.evaluate((name) => sessionStorage.getItem(name), `crosswalk-draft:${id}`)
    return (JSON.parse(kept ?? '{}') as { text?: string }).text ?? ''
  }
  return { service, hand, page, checkAccessibility, text: await until(read, isDone) }
}

describe('a mapping by hand', { skip: NO_BROWSER }, () => {
  for (const way of ['mouse', 'keyboard']) {
    test(`by ${way}`, async (test) => {
      const { hand, page, text, checkAccessibility } = await start(test, way, build, (now) => now.includes('mapCodes'))
      const { constants, inputTransforms, inputMapping } = JSON.parse(text) as Record<string, Record<string, unknown>>
      assert.deepEqual(constants, { resourceType: 'Patient' })
      assert.deepEqual(Object.keys(inputTransforms ?? {}), ['text', 'birthDate'])
      assert.deepEqual(inputMapping?.['requestBody.person.gender'], {
        key: 'gender',
        transform: { function: 'mapCodes', parameters: { F: 'female', M: 'male', default: 'unknown' } },
      })
      const entries = page.getByRole('grid', { name: 'Entries' })
      for (const [key, value] of [
        ['name[].text', '"Jane Q Doe"'],
        ['birthDate', '"1980-02-03"'],
      ] as const) {
        await entries.getByRole('row', { name: new RegExp(`to ${key.replaceAll(/[[\]]/g, '\\$&')}`) }).click()
        await page.getByRole('region', { name: 'Selected entry' }).getByText(value).waitFor()
      }
      await checkAccessibility()
      test.diagnostic(`${hand.actions} actions`)
      assert.ok(hand.actions <= 28, `${hand.actions} actions`)
    })

    test(`of an OpenMRS patient to a FHIR Patient of 18 entries, by ${way}`, async (test) => {
      const isDone = (text: string) => text.includes('telecom')
      const { service, hand, page, text, checkAccessibility } = await start(test, way, buildFhir, isDone)
      await page.getByText('Entries (18)').waitFor()
      const endpoint = JSON.parse(text) as JsonObject
      const request = { endpoint, message: { body: JSON.stringify(OPENMRS), contentType: 'application/json' } }
      const reply = await call(service.adminUrl, 'POST', '/endpoints/dry-run', {
        headers: JSON_TYPE,
        body: JSON.stringify(request),
      })
      const { answer } = reply.json<{ answer: { body: string } }>()
      assert.deepEqual(JSON.parse(answer.body), FHIR)
      await page.getByText('1 of 1 required fields are written').waitFor()
      await checkAccessibility()
      test.diagnostic(`${hand.actions} actions`)
      assert.ok(hand.actions <= 45, `${hand.actions} actions`)
    })
  }
})
