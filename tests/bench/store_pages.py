# SPDX-License-Identifier: Apache-2.0
"""store_pages - where the bytes of what is kept are: content, and PostgreSQL's pages around it.

A relation's file is whole pages of 8 KB. The least there is of a day: an index has a page before
anything is in it and two with its first entry (GIN: two and more), a table of long values (TOAST)
has an index, VACUUM leaves a map of what all can see (a page), and one of free space (three pages)
where a table has more than four. What of this does not grow is the cost of a day, not of a sample.
"""

# of the leaves of a table: what is in it, and its files
FILES = """
SELECT pg_relation_size(relid) = 0 AS empty, sum(pg_relation_size(relid))::bigint,
       sum(CASE WHEN toast = 0 THEN 0 ELSE pg_relation_size(toast) END)::bigint,
       sum(pg_relation_size(relid, 'fsm') + pg_relation_size(relid, 'vm')
           + CASE WHEN toast = 0 THEN 0 ELSE pg_relation_size(toast, 'fsm')
             + pg_relation_size(toast, 'vm') END)::bigint,
       sum(pg_indexes_size(relid))::bigint,
       sum(CASE WHEN toast = 0 THEN 0 ELSE pg_indexes_size(toast) END)::bigint
  FROM pg_partition_tree(%s) CROSS JOIN LATERAL
       (SELECT reltoastrelid AS toast FROM pg_class WHERE oid = relid) AS of_class
 WHERE isleaf GROUP BY 1 ORDER BY 1
"""
INDEXES = """
SELECT parent.relname, sum(pg_total_relation_size(child.oid))::bigint
  FROM pg_index JOIN pg_inherits ON inhparent = indexrelid
  JOIN pg_class AS parent ON parent.oid = inhparent JOIN pg_class AS child ON child.oid = inhrelid
 WHERE indrelid = %s::text::regclass GROUP BY 1 ORDER BY 1
"""
CONTENT = {
    "chunk": "octet_length(directory) + octet_length(payload)",
    "rollup": "octet_length(directory) + octet_length(payload)",
    "series": "8 + 8 * cardinality(pairs)",
    "label_pair": "8 + octet_length(name) + octet_length(value)",
}
COLUMNS = ("content", "heap", "TOAST", "maps", "indexes", "of TOAST", "all")


def pages_of(cell):
    """[(table or what of it, bytes by COLUMNS)]"""
    found = []
    with cell.connect() as db:
        for table, content in CONTENT.items():
            (bytes_in,) = db.execute(f"SELECT coalesce(sum({content}), 0)::bigint FROM {table}"
                                     ).fetchone()
            for empty, *files in db.execute(FILES, (table,)).fetchall():
                name = f"{table}, empty" if empty else table
                found.append((name, [0 if empty else bytes_in, *files, sum(files)]))
    return found


def indexes_of(cell):
    """[(index, bytes of it over all partitions)]"""
    with cell.connect() as db:
        return [row for table in CONTENT for row in db.execute(INDEXES, (table,)).fetchall()]


def print_pages(found, indexes, samples):
    print(f"  {'kept, KB':18}"
          + "".join(f"{column:>10}" for column in (*COLUMNS, "B/sample")))
    for name, sizes in found:
        print(f"  {name:18}" + "".join(f"{size / 1024:10.1f}" for size in sizes)
              + f"{sizes[-1] / samples:10.2f}")
    print("  indexes, KB: " + ", ".join(f"{name} {size / 1024:.0f}" for name, size in indexes))
