/** Names of people's data that mean the same in systems of health care, with FHIR's among them. */
import type { PathStep } from '../../core/path-step.ts'

/** Each line has the names of one field; those of two words may be a name and the one that it is in. */
const SAME = `
id, uuid
given, given name, first name, forename
family, family name, last name, surname, family name 1
prefix, name prefix, honorific prefix
suffix, name suffix, family name suffix
birth date, date of birth, dob, birthday, born
gender, sex, administrative gender
deceased boolean, dead, deceased, is dead, is deceased
deceased date time, death date, date of death, death date time
line, address 1, address line, address line 1, street, street address
city, town, village, city village, municipality, locality
district, county, county district
state, province, state province, region
postal code, zip, zip code, postcode, post code
country, country code
telecom value, phone, phone number, telephone, telephone number, mobile, mobile number, contact number, email
identifier value, identifier identifier, identifier, mrn, medical record number, national id, patient id
identifier type text, identifier type display, identifier type name
assigner display, location display, identifier location, issuer, assigning authority
marital status text, marital status, civil status
communication language text, language, preferred language
`
const MEANINGS = new Map(
  SAME.trim()
    .split('\n')
    .flatMap((line) => line.split(', ').map((name) => [name.replaceAll(' ', ''), line] as const)),
)

const known = new WeakMap<readonly PathStep[], string | undefined>()

const plainSingular = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/(?<![su])s$/, '')

/** What the last names of a place mean; undefined of names that the table does not have. */
export function findMeaning(steps: readonly PathStep[]): string | undefined {
  if (!known.has(steps)) {
    const names = steps.flatMap((step) => (step.kind === 'name' ? [plainSingular(step.name)] : []))
    const ends = [3, 2, 1].map((count) => (names.length < count ? undefined : names.slice(-count).join('')))
    known.set(
      steps,
      ends.map((end) => MEANINGS.get(end ?? '')).find((meaning) => meaning !== undefined),
    )
  }
  return known.get(steps)
}
