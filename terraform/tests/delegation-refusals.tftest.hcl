# What is refused before anything reaches the parent, one fault a run. No provider takes part.

variables {
  parent_zone = "example.com"
  zone        = "llm.example.com"
  name_servers = [
    { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
    { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2"] },
  ]
}

run "the_inputs_of_this_file_are_otherwise_accepted" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  assert {
    condition     = length(output.records) == 3
    error_message = "expected three record sets, got ${jsonencode(output.records)}"
  }
}

run "a_zone_that_is_its_own_parent" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    zone = "example.com"
  }

  expect_failures = [var.zone]
}

run "a_zone_that_only_ends_like_its_parent" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    zone = "llm-example.com"
  }

  expect_failures = [var.zone]
}

run "a_zone_with_a_label_of_64_octets" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    zone = "${join("", [for _ in range(64) : "a"])}.example.com"
  }

  expect_failures = [var.zone]
}

run "a_zone_with_an_underscore" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    zone = "_llm.example.com"
  }

  expect_failures = [var.zone]
}

run "a_parent_that_is_an_address" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    parent_zone = "192.0.2.1"
  }

  expect_failures = [var.parent_zone]
}

run "a_single_name_server" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "fourteen_name_servers" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [for n in range(14) : { name = "ns${n}.llm.example.com", ipv4 = ["198.51.100.${n + 1}"] }]
  }

  expect_failures = [var.name_servers]
}

run "one_name_server_written_twice" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "NS1.llm.example.com.", ipv4 = ["198.51.100.2"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "a_name_server_that_is_an_address" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "198.51.100.2", ipv4 = ["198.51.100.2"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "two_name_servers_on_one_ipv4_address" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.1"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "two_name_servers_on_one_ipv6_address_in_two_spellings" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"], ipv6 = ["2001:db8::53"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2"], ipv6 = ["2001:DB8:0::53"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "one_address_given_twice_to_a_name_server" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2", "198.51.100.2"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "a_name_server_inside_the_zone_without_an_address" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2"] },
      { name = "ns3.llm.example.com" },
    ]
  }

  expect_failures = [var.name_servers]
}

run "a_name_server_inside_the_zone_without_an_address_beside_one_outside" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com" },
      { name = "gtm.example.net" },
    ]
  }

  expect_failures = [var.name_servers]
}

run "a_lone_name_server_with_ipv6" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2"], ipv6 = ["2001:db8::53"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "a_lone_name_server_with_ipv4" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"], ipv6 = ["2001:db8:1::53"] },
      { name = "ns2.llm.example.com", ipv6 = ["2001:db8:2::53"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "an_ipv4_address_with_a_leading_zero" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.02"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "an_ipv4_address_with_a_final_dot" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2."] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "an_ipv4_address_above_255" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.256"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "a_network_in_place_of_an_address" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.0/24"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "an_ipv6_address_among_the_ipv4_ones" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2", "2001:db8::53"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "an_ipv4_address_among_the_ipv6_ones" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"], ipv6 = ["2001:db8:1::53"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2"], ipv6 = ["198.51.100.3"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "an_ipv4_address_mapped_into_ipv6" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"], ipv6 = ["2001:db8:1::53"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2"], ipv6 = ["::ffff:198.51.100.3"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "a_loopback_address" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["127.0.0.1"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "a_link_local_ipv6_address" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"], ipv6 = ["2001:db8:1::53"] },
      { name = "ns2.llm.example.com", ipv4 = ["198.51.100.2"], ipv6 = ["FE80::1"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "a_multicast_address" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    name_servers = [
      { name = "ns1.llm.example.com", ipv4 = ["198.51.100.1"] },
      { name = "ns2.llm.example.com", ipv4 = ["224.0.0.251"] },
    ]
  }

  expect_failures = [var.name_servers]
}

run "a_ttl_below_a_minute" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    ttl = 59
  }

  expect_failures = [var.ttl]
}

run "a_ttl_above_two_days" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    ttl = 172801
  }

  expect_failures = [var.ttl]
}

run "a_ttl_with_a_fraction" {
  command = plan

  module {
    source = "./modules/delegation"
  }

  variables {
    ttl = 3600.5
  }

  expect_failures = [var.ttl]
}
