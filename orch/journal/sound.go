package journal

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"time"
)

// Sound says what is wrong with the store of a home that nobody has open, as far as its structure goes; ErrLocked
// where somebody has. It changes nothing.
func Sound(dir string) error { return sound(filepath.Join(dir, File), time.Second) }

// sound walks a store's file by plain reads before bbolt maps it (format of bbolt 1.5, file version 2).
//
// bbolt trusts what it maps: a wild page number or offset becomes an access outside the mapping, which Go
// can't always turn into a panic, a page that is its own descendant an endless recursion, and an empty file a
// new store. So everything bbolt follows is followed here first, within bounds. The lock is held meanwhile,
// where the system has one: a store that another process is writing is not judged.
func sound(path string, wait time.Duration) error {
	f, err := os.Open(path)
	if err != nil {
		return storeError(err)
	}
	defer f.Close()
	if err := lock(f, wait); err != nil {
		return err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return storeError(err)
	}
	if err := walk(raw); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// Kinds of pages.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
)

const (
	pageHead   = 16 // id u64, flags u16, count u16, overflow u32
	elemSize   = 16 // branch: pos u32, key size u32, page u64; leaf: flags u32, pos u32, key size u32, value size u32
	metaSize   = 64 // magic, version, page size, flags u32; root, sequence, freelist, high water mark, txid, checksum u64
	bucketHead = 16 // root u64, sequence u64; with root 0 a page follows inline
	magic      = 0xED0CDAED
	noFreelist = ^uint64(0)
)

var le = binary.LittleEndian

type walker struct {
	raw  []byte
	size int    // of a page
	top  uint64 // high water mark: no page in use has this number or a higher one
	seen []bool // by page
}

func walk(raw []byte) error {
	m, err := newestMeta(raw)
	if err != nil {
		return err
	}
	if m.top > uint64(len(raw))/uint64(m.pageSize) {
		return fmt.Errorf("it is cut: %d bytes for %d pages", len(raw), m.top)
	}
	w := &walker{raw: raw, size: int(m.pageSize), top: m.top, seen: make([]bool, m.top)}
	if m.freelist != noFreelist {
		if err := w.freelist(m.freelist); err != nil {
			return err
		}
	}
	return w.page(m.root)
}

type meta struct {
	pageSize                  uint32
	root, freelist, top, txid uint64
}

// newestMeta is the root that bbolt would take: of two, the whole one with the higher transaction.
func newestMeta(raw []byte) (meta, error) {
	first, err := readMeta(raw, 0)
	// Where the first is broken its page size can't be had from it.
	sizes := []int{int(first.pageSize)}
	if err != nil {
		sizes = []int{1024, 2048, 4096, 8192, 16384, 32768, 65536}
	}
	for _, size := range sizes {
		second, err2 := readMeta(raw, size)
		if err2 == nil && int(second.pageSize) == size && (err != nil || second.txid > first.txid) {
			return second, nil
		}
	}
	return first, err
}

func readMeta(raw []byte, at int) (meta, error) {
	if len(raw) < at+pageHead+metaSize {
		return meta{}, fmt.Errorf("it is cut: %d bytes", len(raw))
	}
	m := raw[at+pageHead:][:metaSize]
	sum := fnv.New64a()
	sum.Write(m[:metaSize-8])
	out := meta{
		pageSize: le.Uint32(m[8:]), root: le.Uint64(m[16:]), freelist: le.Uint64(m[32:]),
		top: le.Uint64(m[40:]), txid: le.Uint64(m[48:]),
	}
	switch {
	case le.Uint32(m) != magic || le.Uint32(m[4:]) != 2:
		return meta{}, fmt.Errorf("it is no store")
	case le.Uint64(m[56:]) != sum.Sum64():
		return meta{}, fmt.Errorf("its root has a wrong checksum")
	case out.pageSize < 512 || out.pageSize > 1<<20:
		return meta{}, fmt.Errorf("its page size is %d", out.pageSize)
	}
	return out, nil
}

// take returns the bytes of a page that nothing else has led to.
func (w *walker) take(id uint64) ([]byte, error) {
	if id < 2 || id >= w.top {
		return nil, fmt.Errorf("page %d is out of bounds", id)
	}
	p := w.raw[id*uint64(w.size):]
	over := uint64(le.Uint32(p[12:]))
	if le.Uint64(p) != id || over >= w.top-id {
		return nil, fmt.Errorf("page %d has a wrong head", id)
	}
	for i := id; i <= id+over; i++ {
		if w.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		w.seen[i] = true
	}
	return p[:(over+1)*uint64(w.size)], nil
}

func (w *walker) freelist(id uint64) error {
	p, err := w.take(id)
	if err != nil {
		return err
	}
	count, at := uint64(le.Uint16(p[10:])), uint64(pageHead)
	if count == 0xFFFF {
		count, at = le.Uint64(p[pageHead:]), pageHead+8
	}
	if le.Uint16(p[8:])&freelistPage == 0 || count > (uint64(len(p))-at)/8 {
		return fmt.Errorf("page %d is no list of free pages", id)
	}
	for i := range count {
		if free := le.Uint64(p[at+8*i:]); free < 2 || free >= w.top {
			return fmt.Errorf("free page %d is out of bounds", free)
		}
	}
	return nil
}

// page follows a page of the tree, down to the last leaf.
func (w *walker) page(id uint64) error {
	p, err := w.take(id)
	if err != nil {
		return err
	}
	switch le.Uint16(p[8:]) {
	case branchPage:
		err = w.branch(p)
	case leafPage:
		err = w.leaf(p)
	default:
		err = fmt.Errorf("of kind %#x", le.Uint16(p[8:]))
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// elements returns how many elements a page has, if they all fit.
func elements(p []byte) (int, error) {
	count := int(le.Uint16(p[10:]))
	if pageHead+count*elemSize > len(p) {
		return 0, fmt.Errorf("%d elements don't fit", count)
	}
	return count, nil
}

func (w *walker) branch(p []byte) error {
	count, err := elements(p)
	if err != nil {
		return err
	}
	if count == 0 {
		return fmt.Errorf("a branch without leaves")
	}
	for i := range count {
		at := pageHead + i*elemSize
		end := uint64(at) + uint64(le.Uint32(p[at:])) + uint64(le.Uint32(p[at+4:]))
		if end > uint64(len(p)) {
			return fmt.Errorf("element %d is out of bounds", i)
		}
		if err := w.page(le.Uint64(p[at+8:])); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) leaf(p []byte) error {
	count, err := elements(p)
	if err != nil {
		return err
	}
	for i := range count {
		at := pageHead + i*elemSize
		value := uint64(at) + uint64(le.Uint32(p[at+4:])) + uint64(le.Uint32(p[at+8:]))
		end := value + uint64(le.Uint32(p[at+12:]))
		if end > uint64(len(p)) {
			return fmt.Errorf("element %d is out of bounds", i)
		}
		switch le.Uint32(p[at:]) {
		case 0:
		case 1:
			if err := w.bucket(p[value:end]); err != nil {
				return fmt.Errorf("bucket %d: %w", i, err)
			}
		default:
			return fmt.Errorf("element %d is of kind %#x", i, le.Uint32(p[at:]))
		}
	}
	return nil
}

// bucket follows a bucket: a tree of its own, or one small leaf within the value.
func (w *walker) bucket(value []byte) error {
	if len(value) < bucketHead {
		return fmt.Errorf("it is cut")
	}
	if root := le.Uint64(value); root != 0 {
		return w.page(root)
	}
	inline := value[bucketHead:]
	if len(inline) < pageHead || le.Uint16(inline[8:]) != leafPage {
		return fmt.Errorf("it has no page")
	}
	return w.leaf(inline)
}
