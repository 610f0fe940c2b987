//! Bulk verification by the AWS SDK against an EC2 double. The tests are in `tests/`.
