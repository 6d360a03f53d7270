/**
 * `npm run console:pictures [folder]`: a picture of every page of the console, in light and dark, at 1440, 768 and 360 pixels, of a
 * real service with sample data. The folder is outside of the repository unless one is named.
 */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeBrowser, loaded, openPage, signIn } from '../test/system/console/browser.ts'
import { PICTURES } from './console/pictures/pictures.ts'

const WIDTHS = [1440, 768, 360] as const
const SCHEMES = ['light', 'dark'] as const

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'crosswalk-pictures-'))
mkdirSync(folder, { recursive: true })
const only = process.argv[3]

for (const { name, start } of PICTURES.filter((picture) => only === undefined || picture.name.includes(only))) {
  const { origin, path, key, prepare, stop } = await start()
  for (const colorScheme of SCHEMES) {
    for (const width of WIDTHS) {
      const { page, close } = await openPage(origin, { width, height: 900, colorScheme })
      await page.goto(`/console/${path}`)
      if (key !== undefined) await signIn(page, key)
      await loaded(page)
      await prepare?.(page)
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${width}.png`) })
      await close()
    }
  }
  await stop()
  console.log(`${name}: ${WIDTHS.length * SCHEMES.length} pictures`)
}
await closeBrowser()
console.log(`The pictures are in ${folder}.`)
