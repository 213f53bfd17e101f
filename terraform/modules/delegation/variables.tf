# What the parent is to publish. Names are taken in any case, with or without the final dot.

variable "parent_zone" {
  description = "The zone the records go into, such as example.com."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex(local.domain_name, lower(var.parent_zone))) && length(trimsuffix(var.parent_zone, ".")) <= 253
    error_message = "parent_zone must be a domain name such as example.com, got \"${var.parent_zone}\"."
  }
}

variable "zone" {
  description = "The delegated zone, below parent_zone: dns.zone in the GTM's configuration."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex(local.domain_name, lower(var.zone))) && length(trimsuffix(var.zone, ".")) <= 253
    error_message = "zone must be a domain name such as llm.example.com, got \"${var.zone}\"."
  }

  validation {
    condition     = endswith(lower(trimsuffix(var.zone, ".")), ".${local.parent_zone}")
    error_message = "zone must lie below parent_zone, \"${local.parent_zone}\", got \"${var.zone}\"."
  }
}

variable "name_servers" {
  description = <<-EOT
    The GTM instances by their names as name servers: dns.ns in the GTM's configuration, which must say the same.
    One inside the delegated zone needs an address, which becomes glue. One outside needs none, since its own zone answers
    for it: addresses given here are checked like the others, and not published.
  EOT
  type = list(object({
    name = string
    ipv4 = optional(list(string), [])
    ipv6 = optional(list(string), [])
  }))
  nullable = false

  # Thirteen is what the root zone has, the most that resolvers are known to cope with.
  validation {
    condition     = length(var.name_servers) >= 2 && length(var.name_servers) <= 13
    error_message = "name_servers must be 2 to 13: with one, the zone goes when it goes (RFC 1034, section 4.1). Got ${length(var.name_servers)}."
  }

  validation {
    condition = alltrue([
      for server in var.name_servers :
      can(regex(local.domain_name, lower(server.name))) && length(trimsuffix(server.name, ".")) <= 253
    ])
    error_message = "name_servers must have host names, got: ${join(", ", var.name_servers[*].name)}."
  }

  validation {
    condition     = length(distinct([for name in var.name_servers[*].name : lower(trimsuffix(name, "."))])) == length(var.name_servers)
    error_message = "name_servers must have different names, got: ${join(", ", var.name_servers[*].name)}."
  }

  validation {
    condition     = alltrue([for address in flatten(var.name_servers[*].ipv4) : can(regex(local.ipv4_address, address))])
    error_message = "ipv4 must hold IPv4 addresses, four numbers without leading zeros, got: ${join(", ", flatten(var.name_servers[*].ipv4))}."
  }

  # cidrhost takes what Go's parser takes, which includes IPv4, also in the clothes of IPv6 (::ffff:192.0.2.1).
  validation {
    condition     = alltrue([for address in flatten(var.name_servers[*].ipv6) : strcontains(try(cidrhost("${address}/128", 0), ""), ":")])
    error_message = "ipv6 must hold IPv6 addresses, got: ${join(", ", flatten(var.name_servers[*].ipv6))}."
  }

  validation {
    condition = !anytrue([
      for address in flatten([var.name_servers[*].ipv4, [for each in flatten(var.name_servers[*].ipv6) : try(cidrhost("${each}/128", 0), each)]]) :
      can(regex(local.unreachable_address, address))
    ])
    error_message = "name_servers must have addresses that resolvers reach, not those of a host itself, of a link or of a group, got: ${join(", ", flatten([var.name_servers[*].ipv4, var.name_servers[*].ipv6]))}."
  }

  # In one spelling: 2001:DB8::1 and 2001:db8:0::1 are one machine.
  validation {
    condition = length(distinct(flatten([
      var.name_servers[*].ipv4, [for each in flatten(var.name_servers[*].ipv6) : try(cidrhost("${each}/128", 0), each)]
    ]))) == length(flatten([var.name_servers[*].ipv4, var.name_servers[*].ipv6]))
    error_message = "name_servers must not share an address: two names of one machine are one name server. Got: ${join(", ", flatten([var.name_servers[*].ipv4, var.name_servers[*].ipv6]))}."
  }

  validation {
    condition = alltrue([
      for server in var.name_servers : length(server.ipv4) + length(server.ipv6) > 0
      if endswith(".${lower(trimsuffix(server.name, "."))}", ".${local.zone}")
    ])
    error_message = "A name server inside \"${local.zone}\" is found by its glue only and needs an address, got none for: ${join(", ", [for server in var.name_servers : server.name if length(server.ipv4) + length(server.ipv6) == 0])}."
  }

  # A name server given without addresses may have any, so with one of these the two rules below say nothing.
  validation {
    condition = (
      length([for server in var.name_servers : server if length(server.ipv4) > 0]) >= 2 ||
      anytrue([for server in var.name_servers : length(server.ipv4) + length(server.ipv6) == 0])
    )
    error_message = "At least two name servers must have an IPv4 address: many resolvers have nothing else. With one: ${join(", ", [for server in var.name_servers : server.name if length(server.ipv4) > 0])}."
  }

  validation {
    condition = (
      length([for server in var.name_servers : server if length(server.ipv6) > 0]) != 1 ||
      anytrue([for server in var.name_servers : length(server.ipv4) + length(server.ipv6) == 0])
    )
    error_message = "A lone name server with IPv6 takes every query that comes over IPv6: give a second one an address, or none. Alone: ${join(", ", [for server in var.name_servers : server.name if length(server.ipv6) > 0])}."
  }
}

variable "ttl" {
  description = "For how many seconds resolvers keep the delegation: as long lingers the old address of a name server that moved."
  type        = number
  default     = 3600
  nullable    = false

  validation {
    condition     = var.ttl >= 60 && var.ttl <= 172800 && floor(var.ttl) == var.ttl
    error_message = "ttl must be a whole number of seconds from 60 to 172800 (two days), got ${var.ttl}."
  }
}
