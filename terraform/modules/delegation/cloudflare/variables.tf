variable "parent_zone" {
  description = "As in the delegation module."
  type        = string
  nullable    = false
}

variable "zone" {
  description = "As in the delegation module."
  type        = string
  nullable    = false
}

variable "name_servers" {
  description = "As in the delegation module, which checks them."
  type = list(object({
    name = string
    ipv4 = optional(list(string), [])
    ipv6 = optional(list(string), [])
  }))
  nullable = false
}

variable "ttl" {
  description = "As in the delegation module, and at most a day: Cloudflare takes no more."
  type        = number
  default     = 3600
  nullable    = false

  validation {
    condition     = var.ttl <= 86400
    error_message = "ttl must be at most 86400 at Cloudflare, got ${var.ttl}."
  }
}

variable "zone_id" {
  description = "The Cloudflare identifier of parent_zone."
  type        = string
  nullable    = false
}
