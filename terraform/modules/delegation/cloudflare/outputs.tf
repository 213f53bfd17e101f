output "records" {
  description = "The record sets that were created, as in the delegation module."
  value       = module.delegation.records
}
