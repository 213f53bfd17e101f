# The delegation in a Cloudflare zone: one resource a record, since Cloudflare has no record sets.

module "delegation" {
  source = "../"

  parent_zone  = var.parent_zone
  zone         = var.zone
  name_servers = var.name_servers
  ttl          = var.ttl
}

locals {
  records = merge([
    for record in module.delegation.records : {
      for value in record.values : "${record.name} ${record.type} ${value}" => {
        name    = record.name
        type    = record.type
        ttl     = record.ttl
        content = value
      }
    }
  ]...)
}

resource "cloudflare_dns_record" "delegation" {
  for_each = local.records

  zone_id = var.zone_id
  name    = each.value.name
  type    = each.value.type
  ttl     = each.value.ttl
  content = each.value.content

  # Glue names the GTM's own address; Cloudflare's proxy does not speak DNS. NS records have no such setting.
  proxied = each.value.type == "NS" ? null : false
}
