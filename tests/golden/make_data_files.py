"""Files of other programs for tests/data/formats: MAT by scipy, matio and (v7.3) h5py, HDF5 by h5py, CSV by numpy.

    python3 make_data_files.py                 writes data_files/; needs numpy, scipy, h5py and libmatio
    python3 make_data_files.py --verify DIR    reads what the tests exported there with h5py and numpy; exit status 0 if
                                               all is as expected

Every array is field(k, shape), so that the tests know the values without a second file.
"""
import ctypes
import json
import os
import sys

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data_files")


def field(k, *shape):
    """sin(k + 1.7 i0 + 0.3 i1 - 0.11 i2 + 0.05 i3 - 0.02 i4)"""
    x = np.full(shape, float(k))
    for axis, (size, step) in enumerate(zip(shape, (1.7, 0.3, -0.11, 0.05, -0.02))):
        x = x + step * np.arange(size).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.sin(x)


def path(name):
    return os.path.join(HERE, name)


def write_mat():
    from scipy.io import savemat
    save = lambda name, compress=True, **arrays: savemat(path(name), arrays, do_compression=compress)
    save("fno_darcy.mat", coeff=field(1, 2, 31, 31), sol=field(2, 2, 31, 31))
    save("fno_ns.mat", a=field(3, 2, 16, 16).astype("f4"), u=field(4, 2, 16, 16, 3).astype("f4"),
         t=np.array([[0.5, 1.0, 1.5]]))
    save("fno_burgers.mat", a=field(5, 3, 64), u=field(6, 3, 64))
    save("diffusionpde_darcy.mat", False, thresh_a_data=field(7, 3, 16, 16), thresh_p_data=field(8, 3, 16, 16))
    save("diffusionpde_poisson.mat", f_data=field(9, 2, 16, 16), phi_data=field(10, 2, 16, 16))
    save("diffusionpde_helmholtz.mat", f_data=field(11, 2, 16, 16), psi_data=field(12, 2, 16, 16))
    save("diffusionpde_burgers.mat", input=field(13, 2, 16), output=field(14, 2, 16, 16))
    save("diffusionpde_ns.mat", a=field(15, 2, 16, 16).astype("f4"), u=field(16, 2, 16, 16, 3).astype("f4"))
    kinds = {"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
             "int64": "i8", "uint64": "u8", "single": "f4", "double": "f8"}
    for name, compress in (("types.mat", True), ("types_plain.mat", False)):
        arrays = {n: np.arange(6).reshape(2, 3).astype(d) * (2 if d[0] == "f" else 1) for n, d in kinds.items()}
        arrays.update(truth=np.array([[True, False, True]]), cube=field(17, 2, 3, 4), number=2.5,
                      nothing=np.zeros((0, 3)), whole=np.arange(8.0).reshape(2, 4), complex=np.array([[1 + 2j]]),
                      text="hello", cell=np.array([1, "a"], dtype=object), struct={"x": 1.0})
        save(name, compress, **arrays)


def write_matio():
    """The same kind of files by another implementation, called through its C interface."""
    lib = ctypes.CDLL("libmatio.so.11")
    lib.Mat_CreateVer.restype = lib.Mat_VarCreate.restype = ctypes.c_void_p
    for name, compress in (("matio_plain.mat", 0), ("matio_zlib.mat", 1)):
        if os.path.exists(path(name)):
            os.remove(path(name))
        mat = ctypes.c_void_p(lib.Mat_CreateVer(path(name).encode(), b"MATLAB 5.0 MAT-file, by matio", 0x0100))
        for key, x, kind, number in (("cube", field(18, 2, 3, 4), 6, 9), ("single", field(19, 3, 2).astype("f4"), 7, 7),
                                     ("int32", np.arange(6, dtype="i4").reshape(2, 3), 12, 5),
                                     ("uint8", np.arange(4, dtype="u1").reshape(1, 4), 9, 2)):
            x = np.asfortranarray(x)
            dims = (ctypes.c_size_t * x.ndim)(*x.shape)
            data = x.ctypes.data_as(ctypes.c_void_p)
            var = ctypes.c_void_p(lib.Mat_VarCreate(key.encode(), kind, number, x.ndim, dims, data, 0))
            assert lib.Mat_VarWrite(mat, var, compress) == 0
        lib.Mat_Close(mat)


def write_hdf5():
    import h5py
    # as MATLAB: column-major, so all axes are reversed on disk
    with h5py.File(path("v73.mat"), "w", userblock_size=512) as f:
        for name, x in (("thresh_a_data", field(7, 3, 16, 16)), ("thresh_p_data", field(8, 3, 16, 16))):
            d = f.create_dataset(name, data=x.transpose(), chunks=(8, 16, 2), compression="gzip")
            d.attrs["MATLAB_class"] = np.bytes_("double")
        f["#refs#/a"] = np.arange(3)
    with open(path("v73.mat"), "r+b") as f:
        f.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(124) + b"\x00\x02IM")
    with h5py.File(path("eci_ns.h5"), "w") as f:
        i = np.arange(16) / 16
        angle = 2 * np.pi * (i[:, None] + i[None, :])
        f["a"] = field(20, 2, 16, 16).astype("f4")
        f["f"] = np.stack([0.1 * np.sqrt(2) * np.sin(angle + phi) for phi in np.linspace(0, np.pi / 2, 3)]).astype("f4")
        f["u"] = field(21, 2, 3, 16, 16, 3).astype("f4")
    with h5py.File(path("eci_darcy.h5"), "w") as f:
        f["sol"] = field(22, 2, 16, 16)
    with h5py.File(path("pdebench_burgers.h5"), "w") as f:
        f["tensor"] = field(23, 2, 9, 16).astype("f4")
        f["x-coordinate"], f["t-coordinate"] = (np.arange(16) + 0.5) / 16, np.linspace(0, 2, 10)
    with h5py.File(path("pdebench_darcy.h5"), "w") as f:
        f.create_dataset("tensor", data=field(24, 2, 1, 16, 16).astype("f4"), chunks=(1, 1, 8, 16), compression="gzip",
                         shuffle=True)
        f.create_dataset("nu", data=field(25, 2, 16, 16).astype("f4"), chunks=True, fletcher32=True)
        f["x-coordinate"] = f["y-coordinate"] = (np.arange(16) + 0.5) / 16
        f.attrs["beta"] = 1.0
    write_well()
    with h5py.File(path("types.h5"), "w") as f:
        for d in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">f8", ">i4"):
            f["types/" + d] = np.arange(6).reshape(2, 3).astype(d)
        f["truth"], f["number"], f["empty"] = np.array([True, False]), 2.5, h5py.Empty("f8")
        f["text"], f["complex"], f["zero"] = "hello", np.array([1 + 2j]), np.zeros((0, 3))
        f["soft"], f["away"] = h5py.SoftLink("/number"), h5py.ExternalLink("/etc/hostname", "/x")
        f["loop/back"] = f["types"]
        f["loop/again"] = f["loop"]
        f.create_dataset("chunked", data=field(26, 7, 9, 5), chunks=(2, 4, 3), compression="gzip", shuffle=True)
        f.attrs.update({"name": "é", "count": 3, "real": 0.5, "flag": True, "list": [1.0, 2.0],
                        "names": ["a", "bc"], "flags": [True, False]})
        f["types"].attrs["fixed"] = np.bytes_("abc")
    with h5py.File(path("filter.h5"), "w") as f:
        f.create_dataset("u", data=np.zeros((16, 16)), chunks=(8, 8), compression="lzf")  # a filter of h5py's own
    with h5py.File(path("elsewhere.h5"), "w") as f:  # numbers that would come out of other files
        f.create_dataset("external", shape=(4,), dtype="i4", external=[("/etc/hostname", 0, 16)])
        layout = h5py.VirtualLayout(shape=(4,), dtype="f8")
        layout[:] = h5py.VirtualSource("eci_darcy.h5", "sol", shape=(4,))
        f.create_virtual_dataset("virtual", layout)
    with h5py.File(path("sparse.h5"), "w") as f:
        f.create_dataset("u", shape=(1 << 20, 1 << 10, 1 << 10), dtype="f4", chunks=(1, 64, 64))  # 4 TiB of nothing


def write_well():
    import h5py
    with h5py.File(path("well.hdf5"), "w") as f:
        f.attrs.update({"dataset_name": "example", "grid_type": "cartesian", "n_spatial_dims": 2, "n_trajectories": 2,
                        "simulation_parameters": ["nu"], "nu": 1e-3})
        f["dimensions/time"] = np.arange(3.0)
        f["dimensions/x"], f["dimensions/y"] = np.arange(16) / 16, np.arange(16) / 16
        f["dimensions"].attrs["spatial_dims"] = ["x", "y"]
        for group, name, x, time in (("t0_fields", "vorticity", field(27, 2, 3, 16, 16), True),
                                     ("t0_fields", "force", field(28, 2, 16, 16), False),
                                     ("t1_fields", "velocity", field(29, 2, 3, 16, 16, 2), True)):
            d = f.create_dataset(group + "/" + name, data=x.astype("f4"))
            d.attrs.update({"dim_varying": [True, True], "sample_varying": True, "time_varying": time})
        f["scalars/phase"] = np.array([0.25, 0.5], dtype="f4")
        f["scalars/phase"].attrs.update({"sample_varying": True, "time_varying": False})
        f["scalars/nu"] = np.array([1e-3], dtype="f4")
        f["scalars/nu"].attrs.update({"sample_varying": False, "time_varying": False})
        for group, names in (("t0_fields", ["force", "vorticity"]), ("t1_fields", ["velocity"]),
                             ("scalars", ["phase", "nu"])):
            f[group].attrs["field_names"] = names


def write_others():
    os.makedirs(path("pidm"), exist_ok=True)
    np.savetxt(path("pidm/p_data.csv"), field(30, 3, 16, 16).reshape(3, 256), delimiter=",", fmt="%.9g")
    np.savetxt(path("pidm/K_data.csv"), field(31, 3, 16, 16).reshape(3, 256), delimiter=",", fmt="%.9g")
    np.save(path("u.npy"), field(32, 2, 16, 16))
    np.savez_compressed(path("pair.npz"), u=field(33, 2, 16, 16), a=field(34, 2, 16))


def verify(folder):
    """The tests export samples [3,2,16,16] of darcy (u = field(1), a = field(2)), of burgers (a constant in t)
    and of navier-stokes (w, w0, phi)."""
    import h5py
    same = lambda got, expected: np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6)
    with h5py.File(os.path.join(folder, "darcy.h5")) as f:
        same(f["u"][:], field(1, 3, 16, 16))
        same(f["a"][:], field(2, 3, 16, 16))
        assert f["u"].dtype == "f4" and json.loads(f.attrs["description"])["pde"] == "darcy"
    with h5py.File(os.path.join(folder, "darcy_well.h5")) as f:
        assert f.attrs["n_spatial_dims"] == 2 and f.attrs["n_trajectories"] == 3
        assert list(f["dimensions"].attrs["spatial_dims"]) == ["x", "y"]
        same(f["t0_fields/u"][:], field(1, 3, 16, 16))
        same(f["dimensions/x"][:], (np.arange(16) + 0.5) / 16)
        assert list(f["t0_fields"].attrs["field_names"]) == ["u", "a"] and not f["t0_fields/u"].attrs["time_varying"]
        assert list(f["t0_fields/u"].attrs["dim_varying"]) == [True, True]
        assert f["t0_fields/u"].attrs["sample_varying"].dtype == bool
        wall = f["boundary_conditions/x_wall"]
        assert wall.attrs["bc_type"] == "WALL" and wall["mask"].dtype == bool and wall["mask"][:].sum() == 2
    with h5py.File(os.path.join(folder, "burgers_well.h5")) as f:
        assert f.attrs["n_spatial_dims"] == 1
        same(f["t0_fields/u"][:], field(3, 3, 16, 16).transpose(0, 2, 1))
        same(f["t0_fields/a"][:], field(4, 3, 16))
        assert f["t0_fields/u"].attrs["time_varying"] and not f["t0_fields/a"].attrs["time_varying"]
        assert "x_periodic" in f["boundary_conditions"] and f["dimensions/time"][-1] == 1
    with h5py.File(os.path.join(folder, "ns_well.h5")) as f:
        same(f["t0_fields/w"][:, 1], field(5, 3, 16, 16))
        same(f["t0_fields/w"][:, 0], field(6, 3, 16, 16))
        same(f["scalars/phi"][:], field(7, 3))
    with np.load(os.path.join(folder, "darcy.npz")) as f:
        same(f["u"], field(1, 3, 16, 16))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--verify"]:
        verify(sys.argv[2])
    else:
        os.makedirs(HERE, exist_ok=True)
        write_mat()
        write_matio()
        write_hdf5()
        write_others()
