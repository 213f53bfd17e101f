# The record sets that the parent is to hold: one of name servers, and the glue of those inside the zone.

locals {
  # RFC 1123, section 2.1: letters, digits and inner hyphens. A last label of digits would be an address.
  domain_name = "^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?\\.?$"

  # Leading zeros are refused since some parsers take them for octal.
  octet        = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
  ipv4_address = "^(?:${local.octet}\\.){3}${local.octet}$"

  # This host, loopback, link-local, and 224.0.0.0 and above; for IPv6 the same (RFC 6890).
  unreachable_address = "^(?:0\\.|127\\.|169\\.254\\.|22[4-9]\\.|2[345][0-9]\\.|::1?$|fe[89ab][0-9a-f]:|ff[0-9a-f]{2}:)"

  parent_zone = lower(trimsuffix(var.parent_zone, "."))
  zone        = lower(trimsuffix(var.zone, "."))

  # A map is sorted by its keys, so the order of the input changes nothing.
  servers = {
    for server in var.name_servers : lower(trimsuffix(server.name, ".")) => {
      A    = sort(server.ipv4)
      AAAA = sort([for address in server.ipv6 : cidrhost("${address}/128", 0)])
    }
  }

  glue = flatten([
    for name, addresses in local.servers : [
      for type, values in addresses : { name = name, type = type, ttl = var.ttl, values = values }
      if length(values) > 0
    ]
    if endswith(".${name}", ".${local.zone}")
  ])

  records = concat([{ name = local.zone, type = "NS", ttl = var.ttl, values = keys(local.servers) }], local.glue)

  zone_file_lines = flatten([
    for record in local.records : [
      for value in record.values :
      "${record.name}. ${record.ttl} IN ${record.type} ${value}${record.type == "NS" ? "." : ""}"
    ]
  ])
}
