output "records" {
  description = "The record sets of the parent, sorted: name and values without a final dot, type NS, A or AAAA, ttl in seconds."
  value       = local.records
}

output "zone_file" {
  description = "The same as lines of a zone file (RFC 1035, section 5), with absolute names, for a parent kept in a file."
  value       = "${join("\n", local.zone_file_lines)}\n"
}
