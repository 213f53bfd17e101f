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
  description = "As in the delegation module."
  type        = number
  default     = 3600
  nullable    = false
}

variable "zone_id" {
  description = "The Route 53 hosted zone of parent_zone."
  type        = string
  nullable    = false
}
