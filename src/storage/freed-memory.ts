/**
 * Has the server's process keep the memory that its statements free. PostgreSQL gives each statement's memory back to the allocator, and that
 * of glibc gives it back to the system from 128 KB on, until a larger piece was freed that it had mapped by itself; from then on it keeps twice
 * the size of that piece (mallopt(3), M_MMAP_THRESHOLD). A statement that takes twenty columns as arrays has a store of rows for each, and spent
 * half a millisecond to take that memory anew. Other allocators go on as they were. `lpad` takes four bytes for each character that it may have to write,
 * so this piece has a megabyte, of which a quarter is written.
 */
export const keepFreedMemory = `select octet_length(lpad('', ${256 * 1024}))`;
