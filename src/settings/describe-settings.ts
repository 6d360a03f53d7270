/** What the service runs with, for people; nothing secret. */
import type { DescribedGroup, DescribedSetting } from '../core/described-settings.ts'
import type { Setting } from './setting-kinds.ts'
import type { Settings } from './settings.ts'
import { SETTING_GROUPS, SETTINGS, type SettingKey } from './settings-table.ts'

/** In the groups and the order of the documentation. */
export function describeSettings(settings: Settings): readonly DescribedGroup[] {
  const byName = new Map(
    (Object.entries(SETTINGS) as [SettingKey, Setting<unknown>][]).map(([key, { name }]) => [name, settings[key]]),
  )
  return SETTING_GROUPS.map(({ title, settings: ofGroup }) => ({
    title,
    settings: ofGroup.map((setting) => describe(setting, byName.get(setting.name))),
  }))
}

function describe(setting: Setting<unknown>, value: unknown): DescribedSetting {
  const { name, means, kind } = setting
  const byDefault = kind.parse(setting.default)
  // The content of a file may be a key.
  const shown = setting.secret || name.endsWith('_FILE') ? undefined : shortText(value)
  return {
    name,
    means,
    accepts: kind.accepts,
    default: setting.default,
    isDefault: byDefault.ok && JSON.stringify(byDefault.value) === JSON.stringify(value),
    ...(shown !== undefined && { value: shown }),
  }
}

function shortText(value: unknown): string | undefined {
  if (['number', 'boolean', 'string'].includes(typeof value)) return String(value)
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(', ') : undefined
}
