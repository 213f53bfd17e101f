# 1.9 is the first in which a validation may look at more than its own variable.

terraform {
  required_version = ">= 1.9"
}
