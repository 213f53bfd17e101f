# The delegation in a Route 53 hosted zone: one resource a record set.

module "delegation" {
  source = "../"

  parent_zone  = var.parent_zone
  zone         = var.zone
  name_servers = var.name_servers
  ttl          = var.ttl
}

resource "aws_route53_record" "delegation" {
  for_each = { for record in module.delegation.records : "${record.name} ${record.type}" => record }

  zone_id = var.zone_id
  name    = each.value.name
  type    = each.value.type
  ttl     = each.value.ttl
  records = each.value.values
}
