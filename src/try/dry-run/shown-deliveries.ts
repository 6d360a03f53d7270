/** A request that would be stored, as reports and expectations of tests show it: with references in place of secrets. */
import type { NewDelivery } from '../../core/deliveries/delivery.ts'
import type { JsonObject } from '../../core/json.ts'
import { appendEncoded } from '../../language/url-template.ts'
import { formatTarget, showTarget, targetNamed } from '../../outbound/targets.ts'

/** As `showTarget` shows a call. `shorten`: what is shown of a URL. */
export function showDelivery({ request }: NewDelivery, shorten: (url: string) => string = (url) => url): JsonObject {
  const { to, method, url, query, key } = request
  const named = targetNamed(to.target)
  const target = formatTarget(named, to.address, appendEncoded(url, query))
  return showTarget({ method: named.method ?? method, target }, shorten(target), key)
}
