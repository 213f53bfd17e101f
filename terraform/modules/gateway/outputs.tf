output "configurations" {
  description = "By gateway: what stands in its gateway.yaml."
  value = {
    for name in var.gateways : name => yamlencode({
      version = 1
      region  = var.region
      gateway = name
      zone    = var.zone
      pools   = var.pools
      hosts   = var.hosts
      store   = { url = var.store_url }
      listen  = [{ address = "0.0.0.0:${var.port}", tls = true }]
      tls     = { cert_file = "${var.folder}/tls/gateway.crt", key_file = "${var.folder}/tls/gateway.key" }
      keys = {
        identity_file = "${var.folder}/keys/identity.key"
        signing_file  = "${var.folder}/keys/signing.keys"
        ticket_file   = "${var.folder}/keys/ticket-${var.region}.keys"
        report_file   = "${var.folder}/keys/report-${var.region}.key"
      }
      engines = var.engines
      # Several gateways of a region share the uses of tickets through the store.
      tickets = { single_use = length(var.gateways) > 1 ? "region" : "process" }
    })
  }
}

output "certificate_names" {
  description = "The names that the gateways' certificate must have."
  value = distinct(concat(
    ["${var.region}.r.${var.zone}", "*.c.${var.zone}", "*.m.${var.zone}"],
    [for pool in var.pools : "${pool}.${var.zone}"],
    var.hosts,
  ))
}

output "endpoint" {
  description = "regions[].endpoint.url in the GTM's configuration, beside gateway: true."
  value       = "https://${var.region}.r.${var.zone}${var.port == 443 ? "" : ":${var.port}"}"
}
