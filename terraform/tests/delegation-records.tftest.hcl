# What the parent publishes for which name servers. No provider takes part.

variables {
  parent_zone = "example.com"
  zone        = "llm.example.com"
}

run "two_name_servers_inside_the_zone_get_glue" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"], ipv6 = ["2001:db8:1::53"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2"], ipv6 = ["2001:db8:2::53"] },
    ]
  }

  assert {
    condition = jsonencode(output.records) == jsonencode([
      { name = "llm.example.com", ttl = 3600, type = "NS", values = ["ns1.llm.example.com", "ns2.llm.example.com"] },
      { name = "ns1.llm.example.com", ttl = 3600, type = "A", values = ["198.51.100.1"] },
      { name = "ns1.llm.example.com", ttl = 3600, type = "AAAA", values = ["2001:db8:1::53"] },
      { name = "ns2.llm.example.com", ttl = 3600, type = "A", values = ["198.51.100.2"] },
      { name = "ns2.llm.example.com", ttl = 3600, type = "AAAA", values = ["2001:db8:2::53"] },
    ])
    error_message = "expected NS and a record of each family for each name server, got ${jsonencode(output.records)}"
  }

  assert {
    condition     = output.zone_file == <<-EOT
      llm.example.com. 3600 IN NS ns1.llm.example.com.
      llm.example.com. 3600 IN NS ns2.llm.example.com.
      ns1.llm.example.com. 3600 IN A 198.51.100.1
      ns1.llm.example.com. 3600 IN AAAA 2001:db8:1::53
      ns2.llm.example.com. 3600 IN A 198.51.100.2
      ns2.llm.example.com. 3600 IN AAAA 2001:db8:2::53
    EOT
    error_message = "expected six lines with absolute names, got ${output.zone_file}"
  }
}

run "order_case_dots_and_spelling_of_addresses_change_nothing" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    parent_zone = "Example.COM."
    zone        = "LLM.example.com."
    name_servers = [
      { name = "NS2.llm.example.com.", ipv6 = ["2001:DB8:2:0:0::53"], ipv4 = ["198.51.100.3", "198.51.100.2"] },
      { name = "ns1.llm.example.com", ipv6 = ["2001:0db8:0001::0053"], ipv4 = ["198.51.100.1"] },
    ]
  }

  assert {
    condition     = output.zone_file == <<-EOT
      llm.example.com. 3600 IN NS ns1.llm.example.com.
      llm.example.com. 3600 IN NS ns2.llm.example.com.
      ns1.llm.example.com. 3600 IN A 198.51.100.1
      ns1.llm.example.com. 3600 IN AAAA 2001:db8:1::53
      ns2.llm.example.com. 3600 IN A 198.51.100.2
      ns2.llm.example.com. 3600 IN A 198.51.100.3
      ns2.llm.example.com. 3600 IN AAAA 2001:db8:2::53
    EOT
    error_message = "expected one spelling, sorted, got ${output.zone_file}"
  }
}

run "name_servers_outside_the_zone_get_no_glue" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    ttl = 300
    name_servers = [
      { name = "gtm1.example.com", ipv4 = ["198.51.100.1"] },
      { name = "gtm2.example.net" },
      { name = "notllm.example.com" },
    ]
  }

  assert {
    condition = jsonencode(output.records) == jsonencode([
      { name = "llm.example.com", ttl = 300, type = "NS", values = ["gtm1.example.com", "gtm2.example.net", "notllm.example.com"] },
    ])
    error_message = "expected the NS records alone, got ${jsonencode(output.records)}"
  }
}

run "a_name_server_at_the_top_of_the_zone_gets_glue" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2"] },
    ]
  }

  assert {
    condition     = strcontains(output.zone_file, "llm.example.com. 3600 IN A 198.51.100.1\n")
    error_message = "expected glue for the name of the zone itself, got ${output.zone_file}"
  }
}

run "a_zone_several_labels_below_its_parent_is_delegated" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    zone = "a.b.llm.example.com"
    name_servers = [
      { name = "ns1.a.b.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.a.b.llm.example.com", ipv4 = ["198.51.100.2"] },
    ]
  }

  assert {
    condition     = output.records[0].name == "a.b.llm.example.com" && length(output.records) == 3
    error_message = "expected NS and two glue records, got ${jsonencode(output.records)}"
  }
}
