# What the modules need, and a place to run the tests from: this folder creates nothing itself.

terraform {
  required_version = ">= 1.9"
}
