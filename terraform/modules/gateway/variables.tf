# What one region's gateways are to be. Where they run is the operator's own: this module makes their configuration.

variable "region" {
  description = "The region's id in the GTM's configuration."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex(local.label, var.region))
    error_message = "region must be a DNS label in lower case such as eu-central, got \"${var.region}\"."
  }
}

variable "zone" {
  description = "The GTM's zone: dns.zone in its configuration."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^(${local.label_text}\\.)+${local.label_text}$", var.zone)) && length(var.zone) <= 253
    error_message = "zone must be a domain name in lower case without a final dot, such as llm.example.com, got \"${var.zone}\"."
  }
}

variable "gateways" {
  description = "The names of the region's gateways among themselves; each has a configuration of its own."
  type        = list(string)
  nullable    = false
  default     = ["gateway-1"]

  validation {
    condition     = length(var.gateways) > 0 && length(distinct(var.gateways)) == length(var.gateways)
    error_message = "gateways must be at least one name, each once, got: ${join(", ", var.gateways)}."
  }

  validation {
    condition     = alltrue([for name in var.gateways : can(regex(local.label, name))])
    error_message = "gateways must be DNS labels in lower case, got: ${join(", ", var.gateways)}."
  }
}

variable "pools" {
  description = "The pools that the region is a member of."
  type        = list(string)
  nullable    = false

  validation {
    condition     = alltrue([for name in var.pools : can(regex(local.label, name))])
    error_message = "pools must be DNS labels in lower case, got: ${join(", ", var.pools)}."
  }
}

variable "hosts" {
  description = "Further names that are answered, such as the host of the region's endpoint where that is another."
  type        = list(string)
  nullable    = false
  default     = []
}

variable "engines" {
  description = "The region's engines; or one, its own router, with router = true."
  type = list(object({
    url    = string
    router = optional(bool, false)
  }))
  nullable = false

  validation {
    condition     = length(var.engines) > 0 && alltrue([for engine in var.engines : can(regex("^https?://[^/?#@\\s]+$", engine.url))])
    error_message = "engines must have URLs such as http://10.0.0.1:8000, without path, query and credential, got: ${join(", ", var.engines[*].url)}."
  }

  validation {
    condition     = length(var.engines) == 1 || !anytrue(var.engines[*].router)
    error_message = "a router must be the only engine, got ${length(var.engines)} engines."
  }
}

variable "store_url" {
  description = "The Redis of the GTMs. A password belongs into a file on the host: this is kept in Terraform's state."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^rediss?(\\+sentinel|\\+cluster)?://", var.store_url)) && !can(regex("://[^@/]*:[^@/]*@", var.store_url))
    error_message = "store_url must begin with redis:// or rediss:// and hold no password."
  }
}

variable "port" {
  description = "Of the listener with TLS, on every address."
  type        = number
  nullable    = false
  default     = 8443

  validation {
    condition     = var.port >= 1 && var.port <= 65535 && floor(var.port) == var.port
    error_message = "port must be a whole number from 1 to 65535, got ${var.port}."
  }
}

variable "folder" {
  description = "Where keys and certificate lie on the gateways' hosts. What is in the files never passes through Terraform."
  type        = string
  nullable    = false
  default     = "/etc/llm-gtm"
}

locals {
  label_text = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
  label      = "^${local.label_text}$"
}
