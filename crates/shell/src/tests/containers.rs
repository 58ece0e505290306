//! Tests of commands in a container, and of their effects outside of the container.

use path::Access;

use crate::parse;

/// The effects of the commands on files of the host, in order.
fn host_effects(text: &str) -> String {
    let script = parse(text);
    let shown = script.effects().into_iter().map(|effect| {
        let verb = match effect.access {
            Some(Access::Read) => "reads",
            Some(Access::Write) => "writes",
            Some(Access::Delete) => "deletes",
            None => "names",
        };
        let directory = match effect.directories.list() {
            Some([directory]) if directory.is_empty() => String::new(),
            Some(directories) => format!(" in {}", directories.join(" or ")),
            None => " in an unknown directory".to_owned(),
        };
        format!("{verb} {}{directory}", effect.path.unwrap_or_else(|| "an unknown path".to_owned()))
    });
    let gaps = script.gaps.iter().map(|gap| format!("gap: {gap}"));
    shown.chain(gaps).collect::<Vec<_>>().join(", ")
}

#[test]
fn only_mounted_paths_affect_the_host() {
    let cases = [
        ("docker run --rm img rm -rf /data x", ""),
        ("docker run --rm img cat /etc/passwd", ""),
        ("docker run -v ~/data:/data img rm -rf /data/x /other", "deletes ~/data/x"),
        ("docker run -v ~/data:/data/ img rm -rf /data", "deletes ~/data"),
        ("docker run --volume=/srv/x:/x img sh -c 'echo > /x/../x/a'", "writes /srv/x/a"),
        ("docker run -v .:/w img cat /w/.env", "reads ./.env"),
        ("docker run -v \"$PWD\":/w -w /w img cat .env", "reads ./.env"),
        ("docker run -v $(pwd):/w -w /w img sh -c 'cd sub && rm x'", "deletes ./sub/x"),
        ("docker run -v \"$HOME/.ssh:/root/.ssh:ro\" img sh -c 'cat ~/.ssh/id'", "reads ~/.ssh/id"),
        ("cd sub && docker run -v ./x:/x img touch /x/y", "writes ./x/y in sub"),
        ("podman run -v /a:/b img rm /b/c", "deletes /a/c"),
        ("nerdctl run -v /a:/b img rm /b/c", "deletes /a/c"),
        ("docker container run -v /a:/b img rm /b/c", "deletes /a/c"),
        ("docker compose run --rm -v /a:/b web rm /b/c", "deletes /a/c"),
        ("docker-compose run -v /a:/b web rm /b/c > log", "writes log, deletes /a/c"),
        ("docker run --mount type=bind,source=/a,target=/b img rm /b/c", "deletes /a/c"),
        ("docker run --mount type=bind,src=/a,dst=/b,readonly img rm /b/c", ""),
        ("docker run --mount type=volume,source=cache,target=/b img rm -r /b", ""),
        ("docker run -v cache:/b img rm -rf /b", ""),
        ("docker run -v /b img rm -rf /b", ""),
        ("docker run -v /a:/b:ro img rm -rf /b", ""),
        ("docker run -v /a:/b:z,ro img cat /b/x", "reads /a/x"),
        ("docker run --entrypoint rm -v /a:/b img -rf /b", "deletes /a"),
        ("docker run -it --entrypoint rm -v /a:/b img -rf /b", "deletes /a"),
    ];
    for (command, expected) in cases {
        assert_eq!(host_effects(command), expected, "{command}");
    }
}

#[test]
fn the_innermost_mount_counts_and_directories_contain_their_mounts() {
    let cases = [
        ("docker run -v /a:/w -v /w/node_modules img rm -rf /w/node_modules", ""),
        ("docker run -v /a:/w -v /c:/w/sub img rm -rf /w/sub/x", "deletes /c/x"),
        ("docker run -v /a:/w/a -v /c:/w/c:ro img rm -rf /w", "deletes /a"),
        ("docker run -v /a:/w/a img rm -rf / --no-preserve-root", "deletes /a"),
        ("docker run -v /a:/w/a img rm -rf '/w/'*", "deletes /a"),
        ("docker run -v /a:/w/a img rm /w", ""),
    ];
    for (command, expected) in cases {
        assert_eq!(host_effects(command), expected, "{command}");
    }
}

/// The working directory of an image, and the mounts of a running container, are not known.
#[test]
fn unknown_mounts_and_images() {
    let cases = [
        ("docker run -v /a:/w img rm -rf build", "names /a/build"),
        ("docker run -v /a:/w img rm -rf \"$X\"", "deletes an unknown path in an unknown directory"),
        ("docker run img rm -rf \"$X\"", ""),
        ("docker run -v \"$X:/w\" img rm -rf /w/x", "deletes an unknown path in an unknown directory"),
        ("docker exec web rm -rf /app/cache", ""),
        ("docker compose exec -T web sh -c 'cd /app && rm -rf x'", ""),
        ("docker exec web cat /app/.env", ""),
        ("ssh host docker run -v /a:/b img rm /b/c", "deletes /b/c in an unknown directory"),
        ("docker run img ssh host rm /b/c", "deletes /b/c in an unknown directory"),
        ("kubectl exec pod -- rm /b/c", "deletes /b/c"),
    ];
    for (command, expected) in cases {
        assert_eq!(host_effects(command), expected, "{command}");
    }
}

#[test]
fn privileged_containers_may_delete_anything() {
    let unknown = "deletes an unknown path in an unknown directory";
    let cases = [
        ("docker run --privileged img rm -rf /x", unknown),
        ("docker exec --privileged web rm -rf /x", unknown),
        ("docker run --volumes-from db img rm -rf /x", unknown),
        ("docker run --device /dev/sda img rm -rf /x", unknown),
        ("docker run --device /dev/dri img rm -rf /x", ""),
        ("docker run -v /dev:/dev img rm -rf /x", unknown),
        ("docker run -v /:/host img chroot /host rm -rf /x", unknown),
        ("docker run -v /:/host img rm -rf /host/x", "deletes /x"),
        ("docker run --privileged img cat /x", ""),
        ("docker run -v /:/host img rm -rf x", "names /x, deletes an unknown path in an unknown directory"),
    ];
    for (command, expected) in cases {
        assert_eq!(host_effects(command), expected, "{command}");
    }
}
