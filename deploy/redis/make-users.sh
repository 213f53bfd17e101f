#!/bin/sh
# Makes users.acl from acl/*.acl, and a password for each user that has none yet.
#
#   deploy/redis/make-users.sh FOLDER REGION...
#
# FOLDER/users.acl is for redis-server (aclfile), FOLDER/passwords/USER for store.password_file. Run it again with all regions to
# add or remove some: passwords stay as they are. To change one, delete its file first.
set -eu
umask 077

if [ $# -lt 2 ]; then
  echo "make-users.sh: expected a folder and at least one region, as in: make-users.sh /etc/llm-gtm/redis eu-central us-east" >&2
  exit 2
fi
folder=$1
shift
for region; do
  case $region in
    '' | -* | *- | *[!a-z0-9-]*)
      echo "make-users.sh: $region is no region: a-z, 0-9 and hyphens, as in the GTMs' configuration" >&2
      exit 2
      ;;
  esac
done
acl=$(dirname "$0")/acl
mkdir -p "$folder/passwords"

# One line: the rules of acl/$1.acl for user $2 in region $3, with the SHA-256 of its password.
user() {
  password=$folder/passwords/$2
  # Made beside and renamed, so that there is never half a password.
  [ -s "$password" ] || { openssl rand -hex 32 > "$password.new" && mv "$password.new" "$password"; }
  digest=$(tr -d '\n' < "$password" | openssl dgst -sha256 -r | cut -d ' ' -f 1)
  rules=$(sed -e '/^#/d' -e "s/REGION/$3/g" "$acl/$1.acl" | tr '\n' ' ')
  echo "user $2 on #$digest $rules"
}

{
  # Whoever does not say who he is may do nothing.
  echo "user default reset off"
  for one in admin gtm read-only replica sentinel; do user "$one" "$one" ''; done
  for region; do
    user edge-agent "edge-agent-$region" "$region"
    user gateway "gateway-$region" "$region"
  done
} > "$folder/users.acl.new"
mv "$folder/users.acl.new" "$folder/users.acl"
