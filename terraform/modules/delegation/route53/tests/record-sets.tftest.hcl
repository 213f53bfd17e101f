# What is created at Route 53, with the provider mocked: its schema is needed, an account is not.

mock_provider "aws" {}

variables {
  parent_zone = "example.com"
  zone        = "llm.example.com"
  zone_id     = "Z0123456789EXAMPLE"
  name_servers = [
    { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1", "198.51.100.9"], ipv6 = ["2001:db8:1::53"] },
    { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2"], ipv6 = ["2001:db8:2::53"] },
  ]
}

run "each_record_set_is_one_resource_in_the_hosted_zone" {
  assert {
    condition = { for key, record in aws_route53_record.delegation : key => record.records } == {
      "llm.example.com NS"       = toset(["ns1.llm.example.com", "ns2.llm.example.com"])
      "ns1.llm.example.com A"    = toset(["198.51.100.1", "198.51.100.9"])
      "ns1.llm.example.com AAAA" = toset(["2001:db8:1::53"])
      "ns2.llm.example.com A"    = toset(["198.51.100.2"])
      "ns2.llm.example.com AAAA" = toset(["2001:db8:2::53"])
    }
    error_message = "expected NS and the glue of both name servers, got ${jsonencode(aws_route53_record.delegation)}"
  }

  assert {
    condition     = alltrue([for record in aws_route53_record.delegation : record.zone_id == var.zone_id && record.ttl == 3600])
    error_message = "expected every record in ${var.zone_id} for 3600 s, got ${jsonencode(aws_route53_record.delegation)}"
  }
}
