# What a region's gateways are configured with. No provider takes part.

variables {
  region    = "eu-central"
  zone      = "llm.example.com"
  pools     = ["chat"]
  engines   = [{ url = "http://10.0.0.1:8000" }, { url = "http://10.0.0.2:8000" }]
  store_url = "rediss://gateway-eu-central@10.0.0.9:6379"
}

run "two_gateways_share_the_uses_of_tickets" {
  command = plan

  module {
    source = "./modules/gateway"
  }

  variables {
    gateways = ["a", "b"]
  }

  assert {
    condition     = [for name, text in output.configurations : [yamldecode(text).gateway, yamldecode(text).tickets.single_use]] == [["a", "region"], ["b", "region"]]
    error_message = "expected a configuration each, got ${jsonencode(output.configurations)}"
  }

  assert {
    condition     = output.certificate_names == tolist(["eu-central.r.llm.example.com", "*.c.llm.example.com", "*.m.llm.example.com", "chat.llm.example.com"])
    error_message = "expected every name that is answered, got ${jsonencode(output.certificate_names)}"
  }

  assert {
    condition     = output.endpoint == "https://eu-central.r.llm.example.com:8443"
    error_message = "expected the region's own name, got ${output.endpoint}"
  }
}

run "a_password_is_refused" {
  command = plan

  module {
    source = "./modules/gateway"
  }

  variables {
    store_url = "redis://user:secret@10.0.0.9:6379"
  }

  expect_failures = [var.store_url]
}

run "a_router_beside_another_engine_is_refused" {
  command = plan

  module {
    source = "./modules/gateway"
  }

  variables {
    engines = [{ url = "http://10.0.0.1:8000", router = true }, { url = "http://10.0.0.2:8000" }]
  }

  expect_failures = [var.engines]
}

run "an_engine_with_a_credential_or_a_path_is_refused" {
  command = plan

  module {
    source = "./modules/gateway"
  }

  variables {
    engines = [{ url = "http://user@10.0.0.1:8000/v1" }]
  }

  expect_failures = [var.engines]
}
