/** A mapping built by hand without JSON: the values that are no path, codes and suggestions, by mouse and by keyboard. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
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
  async choose(from: Locator, value: string): Promise<void> {
    this.actions += 1
    await from.selectOption(value)
  }
}

async function build(page: Page, hand: Hand): Promise<void> {
  const dialog = page.getByRole('dialog')
  const done = (name: string) => hand.press(dialog.getByRole('button', { name, exact: true }))
  await hand.press(page.getByRole('button', { name: 'Type a message …' }))
  await hand.type(dialog.getByLabel('Body'), JSON.stringify(PATIENT))
  await done('Run dry')
  await page.getByText('ran dry on').waitFor()
  await hand.press(page.getByRole('button', { name: 'Fields of the output …' }))
  await hand.type(dialog.getByLabel('Text', { exact: true }), JSON.stringify(SHAPE))
  await done('Show its fields')

  const add = async (kind: string, target: string, typed: Readonly<Record<string, string>>) => {
    await hand.press(page.getByRole('button', { name: 'Add a value …' }))
    await hand.choose(dialog.getByLabel('Kind'), kind)
    for (const [label, text] of Object.entries(typed)) {
      const isCombo = label === 'Field'
      await hand.type(dialog.getByRole(isCombo ? 'combobox' : 'textbox', { name: label, exact: true }), text)
      // Its list hides the other fields.
      if (isCombo) await page.keyboard.press('Tab')
    }
    await hand.type(dialog.getByRole('combobox', { name: 'Target', exact: true }), target)
    await page.keyboard.press('Escape')
    await done('Add')
    await dialog.waitFor({ state: 'detached' })
  }
  await add('constant', 'resourceType', { Value: 'Patient' })
  const name = 'requestBody.person.preferredName'
  const parts = `${name}.givenName, ${name}.middleName, ${name}.familyName`
  await add('join', 'name[].text', { 'Fields, separated by commas': parts })
  await add('date', 'birthDate', { Field: 'requestBody.person.birthdate' })

  await hand.press(page.getByRole('button', { name: 'Suggest entries …' }))
  await dialog.getByRole('checkbox').first().waitFor()
  hand.actions += 1
  await dialog.getByRole('checkbox', { name: /^All / }).check()
  await hand.press(dialog.getByRole('button', { name: /^Add \d+ entr/ }))
  await dialog.waitFor({ state: 'detached' })

  // The suggested entry copies the code.
  const entry = page.getByRole('grid', { name: 'Entries' }).getByRole('row', { name: /person.gender to gender/ })
  await hand.press(entry)
  const detail = page.getByRole('region', { name: 'Selected entry' })
  await hand.choose(detail.getByLabel('Function'), 'mapCodes')
  await hand.type(detail.getByLabel('Codes'), 'F = female\nM\tmale\ndefault = unknown')
  await hand.press(detail.getByRole('button', { name: 'Use these parameters' }))
  await detail.getByText('"female"').waitFor()
}

describe('a mapping by hand', { skip: NO_BROWSER }, () => {
  for (const way of ['mouse', 'keyboard']) {
    test(`by ${way}`, async (test) => {
      const { service, open, page, checkAccessibility } = await openConsole(test)
      const { _id: id } = await service.register({
        name: 'Patients',
        endpoint: { pattern: '/patients' },
        inputMapping: {},
      })
      await open(`endpoints/${id}/mapping`)
      const hand = new Hand(way === 'keyboard')
      await build(page, hand)
      const read = async () => {
        const kept = await page.evaluate((name) => sessionStorage.getItem(name), `crosswalk-draft:${id}`)
        return (JSON.parse(kept ?? '{}') as { text?: string }).text ?? ''
      }
      const text = await until(read, (now) => now.includes('mapCodes'))
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
  }
})
