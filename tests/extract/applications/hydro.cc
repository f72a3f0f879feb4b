// An explicit hydrodynamics code on an unstructured mesh of hexahedra: a shock from a corner through an ideal gas, with
// the forces of corners, hourglass control, a monotonic viscosity and an equation of state by regions.
//
// hydro EDGE STEPS REGIONS
#include "hydro.h"

#ifndef EDGE
#define EDGE 6
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

Int_t Mesh::s_kernels = 0;

// ---- building the mesh ---------------------------------------------------------------------------------------------

Mesh::Mesh(Index_t edge, Int_t regions)
  : m_e_cut(Real_t(1.0e-7)), m_p_cut(Real_t(1.0e-7)), m_q_cut(Real_t(1.0e-7)),
    m_v_cut(Real_t(1.0e-10)), m_u_cut(Real_t(1.0e-7)),
    m_hgcoef(Real_t(3.0)), m_ss4o3(Real_t(4.0) / Real_t(3.0)), m_qstop(Real_t(1.0e+12)),
    m_monoq_max_slope(Real_t(1.0)), m_monoq_limiter(Real_t(2.0)),
    m_qlc_monoq(Real_t(0.5)), m_qqc_monoq(Real_t(2.0) / Real_t(3.0)), m_qqc(Real_t(2.0)),
    m_eosvmax(Real_t(1.0e+9)), m_eosvmin(Real_t(1.0e-9)),
    m_pmin(Real_t(0.)), m_emin(Real_t(-1.0e+15)), m_dvovmax(Real_t(0.1)), m_refdens(Real_t(1.0))
{
  m_sizeX = edge;
  m_numElem = edge * edge * edge;
  m_numNode = (edge + 1) * (edge + 1) * (edge + 1);
  m_numReg = regions;
  m_cost = 1;
  m_regNum = new Index_t[numElem()];

  m_nodelist.resize(CORNERS * numElem());
  m_lxim.resize(numElem()); m_lxip.resize(numElem());
  m_letam.resize(numElem()); m_letap.resize(numElem());
  m_lzetam.resize(numElem()); m_lzetap.resize(numElem());
  m_elemBC.resize(numElem());
  m_e.resize(numElem()); m_p.resize(numElem()); m_q.resize(numElem());
  m_ql.resize(numElem()); m_qq.resize(numElem());
  m_v.resize(numElem(), 1.0);
  m_volo.resize(numElem()); m_vnew.resize(numElem());
  m_delv.resize(numElem()); m_vdov.resize(numElem());
  m_arealg.resize(numElem()); m_ss.resize(numElem()); m_elemMass.resize(numElem());
  m_x.resize(numNode()); m_y.resize(numNode()); m_z.resize(numNode());
  m_xd.resize(numNode()); m_yd.resize(numNode()); m_zd.resize(numNode());
  m_xdd.resize(numNode()); m_ydd.resize(numNode()); m_zdd.resize(numNode());
  m_fx.resize(numNode()); m_fy.resize(numNode()); m_fz.resize(numNode());
  m_nodalMass.resize(numNode());

  BuildNodes(edge);
  BuildElements(edge);
  BuildCorners();
  BuildRegions(regions);
  BuildBoundaries(edge);

  dtcourant() = Real_t(1.0e+20);
  dthydro() = Real_t(1.0e+20);
  dtmax() = Real_t(1.0e-2);
  stoptime() = Real_t(1.0e-2);
  time() = Real_t(0.);
  cycle() = Int_t(0);
  deltatime() = Real_t(0.5) * Real_t(1.0e-5);
}

Mesh::~Mesh()
{
  for (Int_t r = 0; r < m_numReg; ++r)
    delete[] m_regElemlist[r];
  delete[] m_regElemlist;
  delete[] m_regElemSize;
  delete[] m_regNum;
  delete[] m_nodeElemStart;
  delete[] m_nodeElemCorners;
}

void Mesh::BuildNodes(Index_t edge)
{
  Index_t nidx = 0;
  Real_t tz = Real_t(0.);
  for (Index_t plane = 0; plane <= edge; ++plane) {
    Real_t ty = Real_t(0.);
    for (Index_t row = 0; row <= edge; ++row) {
      Real_t tx = Real_t(0.);
      for (Index_t col = 0; col <= edge; ++col) {
        x(nidx) = tx;
        y(nidx) = ty;
        z(nidx) = tz;
        ++nidx;
        tx = Real_t(1.125) * Real_t(col + 1) / Real_t(edge);
      }
      ty = Real_t(1.125) * Real_t(row + 1) / Real_t(edge);
    }
    tz = Real_t(1.125) * Real_t(plane + 1) / Real_t(edge);
  }
}

static inline Real_t TripleProduct(Real_t x1, Real_t y1, Real_t z1,
                                   Real_t x2, Real_t y2, Real_t z2,
                                   Real_t x3, Real_t y3, Real_t z3)
{
  return x1 * (y2 * z3 - z2 * y3) + x2 * (z1 * y3 - y1 * z3) + x3 * (y1 * z2 - z1 * y2);
}

// The volume of a hexahedron from its corners.
static inline Real_t CornerVolume(const Real_t x[CORNERS], const Real_t y[CORNERS], const Real_t z[CORNERS])
{
  Real_t twelfth = Real_t(1.0) / Real_t(12.0);

  Real_t dx61 = x[6] - x[1], dy61 = y[6] - y[1], dz61 = z[6] - z[1];
  Real_t dx70 = x[7] - x[0], dy70 = y[7] - y[0], dz70 = z[7] - z[0];
  Real_t dx63 = x[6] - x[3], dy63 = y[6] - y[3], dz63 = z[6] - z[3];
  Real_t dx20 = x[2] - x[0], dy20 = y[2] - y[0], dz20 = z[2] - z[0];
  Real_t dx50 = x[5] - x[0], dy50 = y[5] - y[0], dz50 = z[5] - z[0];
  Real_t dx64 = x[6] - x[4], dy64 = y[6] - y[4], dz64 = z[6] - z[4];
  Real_t dx31 = x[3] - x[1], dy31 = y[3] - y[1], dz31 = z[3] - z[1];
  Real_t dx72 = x[7] - x[2], dy72 = y[7] - y[2], dz72 = z[7] - z[2];
  Real_t dx43 = x[4] - x[3], dy43 = y[4] - y[3], dz43 = z[4] - z[3];
  Real_t dx57 = x[5] - x[7], dy57 = y[5] - y[7], dz57 = z[5] - z[7];
  Real_t dx14 = x[1] - x[4], dy14 = y[1] - y[4], dz14 = z[1] - z[4];
  Real_t dx25 = x[2] - x[5], dy25 = y[2] - y[5], dz25 = z[2] - z[5];

  Real_t volume =
    TripleProduct(dx31 + dx72, dx63, dx20, dy31 + dy72, dy63, dy20, dz31 + dz72, dz63, dz20) +
    TripleProduct(dx43 + dx57, dx64, dx70, dy43 + dy57, dy64, dy70, dz43 + dz57, dz64, dz70) +
    TripleProduct(dx14 + dx25, dx61, dx50, dy14 + dy25, dy61, dy50, dz14 + dz25, dz61, dz50);
  volume *= twelfth;
  return volume;
}

void Mesh::BuildElements(Index_t edge)
{
  Index_t zidx = 0, nidx = 0;
  Index_t nodes = edge + 1;
  for (Index_t plane = 0; plane < edge; ++plane) {
    for (Index_t row = 0; row < edge; ++row) {
      for (Index_t col = 0; col < edge; ++col) {
        Index_t* corner = nodelist(zidx);
        corner[0] = nidx;
        corner[1] = nidx + 1;
        corner[2] = nidx + nodes + 1;
        corner[3] = nidx + nodes;
        corner[4] = nidx + nodes * nodes;
        corner[5] = nidx + nodes * nodes + 1;
        corner[6] = nidx + nodes * nodes + nodes + 1;
        corner[7] = nidx + nodes * nodes + nodes;
        ++zidx;
        ++nidx;
      }
      ++nidx;
    }
    nidx += nodes;
  }

  for (Index_t i = 0; i < numElem(); ++i) {
    Real_t xl[CORNERS], yl[CORNERS], zl[CORNERS];
    const Index_t* corner = nodelist(i);
    for (Index_t c = 0; c < CORNERS; ++c) {
      const Index_t node = corner[c];
      xl[c] = x(node);
      yl[c] = y(node);
      zl[c] = z(node);
    }
    const Real_t volume = CornerVolume(xl, yl, zl);
    volo(i) = volume;
    elemMass(i) = volume;
    for (Index_t c = 0; c < CORNERS; ++c)
      nodalMass(corner[c]) += volume / Real_t(8.0);
  }
  m_e[0] = Real_t(3.948746e+4) * (edge / 45.0) * (edge / 45.0) * (edge / 45.0);
}

// The corners of elements at each node, so that forces are gathered and not scattered.
void Mesh::BuildCorners()
{
  std::vector<Index_t> count(numNode(), 0);
  for (Index_t i = 0; i < numElem(); ++i) {
    Index_t* corner = nodelist(i);
    for (Index_t c = 0; c < CORNERS; ++c)
      ++count[corner[c]];
  }
  m_nodeElemStart = new Index_t[numNode() + 1];
  m_nodeElemStart[0] = 0;
  for (Index_t i = 1; i <= numNode(); ++i)
    m_nodeElemStart[i] = m_nodeElemStart[i - 1] + count[i - 1];

  m_nodeElemCorners = new Index_t[CORNERS * numElem()];
  std::fill(count.begin(), count.end(), 0);
  for (Index_t i = 0; i < numElem(); ++i) {
    Index_t* corner = nodelist(i);
    for (Index_t c = 0; c < CORNERS; ++c) {
      Index_t m = corner[c];
      Index_t offset = m_nodeElemStart[m] + count[m];
      m_nodeElemCorners[offset] = i * CORNERS + c;
      ++count[m];
    }
  }
}

// Regions of equal size: each element belongs to one.
void Mesh::BuildRegions(Int_t regions)
{
  m_regElemSize = new Index_t[regions];
  m_regElemlist = new Index_t*[regions];
  for (Int_t r = 0; r < regions; ++r)
    m_regElemSize[r] = 0;
  for (Index_t i = 0; i < numElem(); ++i) {
    regNum(i) = i % regions;
    ++regElemSize(regNum(i));
  }
  for (Int_t r = 0; r < regions; ++r) {
    m_regElemlist[r] = new Index_t[regElemSize(r)];
    regElemSize(r) = 0;
  }
  for (Index_t i = 0; i < numElem(); ++i) {
    const Int_t r = regNum(i);
    m_regElemlist[r][regElemSize(r)++] = i;
  }
}

void Mesh::BuildBoundaries(Index_t edge)
{
  const Index_t nodes = edge + 1;
  m_symmX.resize(nodes * nodes);
  m_symmY.resize(nodes * nodes);
  m_symmZ.resize(nodes * nodes);
  Index_t nidx = 0;
  for (Index_t i = 0; i < nodes; ++i) {
    const Index_t plane = i * nodes * nodes, row = i * nodes;
    for (Index_t j = 0; j < nodes; ++j) {
      m_symmX[nidx] = plane + j * nodes;
      m_symmY[nidx] = plane + j;
      m_symmZ[nidx] = row + j;
      ++nidx;
    }
  }

  lxim(0) = 0;
  for (Index_t i = 1; i < numElem(); ++i) {
    lxim(i) = i - 1;
    lxip(i - 1) = i;
  }
  lxip(numElem() - 1) = numElem() - 1;
  for (Index_t i = 0; i < edge; ++i) {
    letam(i) = i;
    letap(numElem() - edge + i) = numElem() - edge + i;
  }
  for (Index_t i = edge; i < numElem(); ++i) {
    letam(i) = i - edge;
    letap(i - edge) = i;
  }
  for (Index_t i = 0; i < edge * edge; ++i) {
    lzetam(i) = i;
    lzetap(numElem() - edge * edge + i) = numElem() - edge * edge + i;
  }
  for (Index_t i = edge * edge; i < numElem(); ++i) {
    lzetam(i) = i - edge * edge;
    lzetap(i - edge * edge) = i;
  }

  for (Index_t i = 0; i < edge; ++i) {
    const Index_t plane = i * edge * edge, row = i * edge;
    for (Index_t j = 0; j < edge; ++j) {
      elemBC(row + j) |= LOW_Z_SYMMETRY;
      elemBC(row + j + numElem() - edge * edge) |= HIGH_Z_FREE;
      elemBC(plane + j) |= LOW_Y_SYMMETRY;
      elemBC(plane + j + edge * edge - edge) |= HIGH_Y_FREE;
      elemBC(plane + j * edge) |= LOW_X_SYMMETRY;
      elemBC(plane + j * edge + edge - 1) |= HIGH_X_FREE;
    }
  }
}

// ---- forces --------------------------------------------------------------------------------------------------------

static inline void CollectNodes(Mesh& mesh, const Index_t* elemToNode,
                                Real_t xl[CORNERS], Real_t yl[CORNERS], Real_t zl[CORNERS])
{
  const Index_t n0 = elemToNode[0], n1 = elemToNode[1], n2 = elemToNode[2], n3 = elemToNode[3];
  const Index_t n4 = elemToNode[4], n5 = elemToNode[5], n6 = elemToNode[6], n7 = elemToNode[7];

  xl[0] = mesh.x(n0); xl[1] = mesh.x(n1); xl[2] = mesh.x(n2); xl[3] = mesh.x(n3);
  xl[4] = mesh.x(n4); xl[5] = mesh.x(n5); xl[6] = mesh.x(n6); xl[7] = mesh.x(n7);

  yl[0] = mesh.y(n0); yl[1] = mesh.y(n1); yl[2] = mesh.y(n2); yl[3] = mesh.y(n3);
  yl[4] = mesh.y(n4); yl[5] = mesh.y(n5); yl[6] = mesh.y(n6); yl[7] = mesh.y(n7);

  zl[0] = mesh.z(n0); zl[1] = mesh.z(n1); zl[2] = mesh.z(n2); zl[3] = mesh.z(n3);
  zl[4] = mesh.z(n4); zl[5] = mesh.z(n5); zl[6] = mesh.z(n6); zl[7] = mesh.z(n7);
}

static inline void InitStressTerms(Mesh& mesh, Real_t* sigxx, Real_t* sigyy, Real_t* sigzz, Index_t numElem)
{
  // the stress of a gas is isotropic
#pragma omp parallel for firstprivate(numElem)
  for (Index_t i = 0; i < numElem; ++i) {
    sigxx[i] = sigyy[i] = sigzz[i] = -mesh.p(i) - mesh.q(i);
  }
}

static inline void ShapeDerivatives(Real_t const x[], Real_t const y[], Real_t const z[],
                                    Real_t b[][CORNERS], Real_t* const volume)
{
  const Real_t eighth = Real_t(.125);
  Real_t fjxxi, fjxet, fjxze, fjyxi, fjyet, fjyze, fjzxi, fjzet, fjzze;
  Real_t cjxxi, cjxet, cjxze, cjyxi, cjyet, cjyze, cjzxi, cjzet, cjzze;

  fjxxi = eighth * ((x[6] - x[0]) + (x[5] - x[3]) - (x[7] - x[1]) - (x[4] - x[2]));
  fjxet = eighth * ((x[6] - x[0]) - (x[5] - x[3]) + (x[7] - x[1]) - (x[4] - x[2]));
  fjxze = eighth * ((x[6] - x[0]) + (x[5] - x[3]) + (x[7] - x[1]) + (x[4] - x[2]));

  fjyxi = eighth * ((y[6] - y[0]) + (y[5] - y[3]) - (y[7] - y[1]) - (y[4] - y[2]));
  fjyet = eighth * ((y[6] - y[0]) - (y[5] - y[3]) + (y[7] - y[1]) - (y[4] - y[2]));
  fjyze = eighth * ((y[6] - y[0]) + (y[5] - y[3]) + (y[7] - y[1]) + (y[4] - y[2]));

  fjzxi = eighth * ((z[6] - z[0]) + (z[5] - z[3]) - (z[7] - z[1]) - (z[4] - z[2]));
  fjzet = eighth * ((z[6] - z[0]) - (z[5] - z[3]) + (z[7] - z[1]) - (z[4] - z[2]));
  fjzze = eighth * ((z[6] - z[0]) + (z[5] - z[3]) + (z[7] - z[1]) + (z[4] - z[2]));

  // cofactors
  cjxxi = (fjyet * fjzze) - (fjzet * fjyze);
  cjxet = -(fjyxi * fjzze) + (fjzxi * fjyze);
  cjxze = (fjyxi * fjzet) - (fjzxi * fjyet);
  cjyxi = -(fjxet * fjzze) + (fjzet * fjxze);
  cjyet = (fjxxi * fjzze) - (fjzxi * fjxze);
  cjyze = -(fjxxi * fjzet) + (fjzxi * fjxet);
  cjzxi = (fjxet * fjyze) - (fjyet * fjxze);
  cjzet = -(fjxxi * fjyze) + (fjyxi * fjxze);
  cjzze = (fjxxi * fjyet) - (fjyxi * fjxet);

  // partial derivatives; the opposite corner has the opposite sign
  b[0][0] = -cjxxi - cjxet - cjxze;
  b[0][1] = cjxxi - cjxet - cjxze;
  b[0][2] = cjxxi + cjxet - cjxze;
  b[0][3] = -cjxxi + cjxet - cjxze;
  b[1][0] = -cjyxi - cjyet - cjyze;
  b[1][1] = cjyxi - cjyet - cjyze;
  b[1][2] = cjyxi + cjyet - cjyze;
  b[1][3] = -cjyxi + cjyet - cjyze;
  b[2][0] = -cjzxi - cjzet - cjzze;
  b[2][1] = cjzxi - cjzet - cjzze;
  b[2][2] = cjzxi + cjzet - cjzze;
  b[2][3] = -cjzxi + cjzet - cjzze;
  for (Index_t axis = 0; axis < 3; ++axis) {
    b[axis][4] = -b[axis][2];
    b[axis][5] = -b[axis][3];
    b[axis][6] = -b[axis][0];
    b[axis][7] = -b[axis][1];
  }

  // the Jacobian determinant
  *volume = Real_t(8.) * (fjxet * cjxet + fjyet * cjyet + fjzet * cjzet);
}

static inline void AddFaceNormal(Real_t* nx0, Real_t* ny0, Real_t* nz0, Real_t* nx1, Real_t* ny1, Real_t* nz1,
                                 Real_t* nx2, Real_t* ny2, Real_t* nz2, Real_t* nx3, Real_t* ny3, Real_t* nz3,
                                 const Real_t x0, const Real_t y0, const Real_t z0,
                                 const Real_t x1, const Real_t y1, const Real_t z1,
                                 const Real_t x2, const Real_t y2, const Real_t z2,
                                 const Real_t x3, const Real_t y3, const Real_t z3)
{
  Real_t bisectX0 = Real_t(0.5) * (x3 + x2 - x1 - x0);
  Real_t bisectY0 = Real_t(0.5) * (y3 + y2 - y1 - y0);
  Real_t bisectZ0 = Real_t(0.5) * (z3 + z2 - z1 - z0);
  Real_t bisectX1 = Real_t(0.5) * (x2 + x1 - x3 - x0);
  Real_t bisectY1 = Real_t(0.5) * (y2 + y1 - y3 - y0);
  Real_t bisectZ1 = Real_t(0.5) * (z2 + z1 - z3 - z0);
  Real_t areaX = Real_t(0.25) * (bisectY0 * bisectZ1 - bisectZ0 * bisectY1);
  Real_t areaY = Real_t(0.25) * (bisectZ0 * bisectX1 - bisectX0 * bisectZ1);
  Real_t areaZ = Real_t(0.25) * (bisectX0 * bisectY1 - bisectY0 * bisectX1);

  *nx0 += areaX; *nx1 += areaX; *nx2 += areaX; *nx3 += areaX;
  *ny0 += areaY; *ny1 += areaY; *ny2 += areaY; *ny3 += areaY;
  *nz0 += areaZ; *nz1 += areaZ; *nz2 += areaZ; *nz3 += areaZ;
}

static inline void NodeNormals(Real_t pfx[CORNERS], Real_t pfy[CORNERS], Real_t pfz[CORNERS],
                               const Real_t x[CORNERS], const Real_t y[CORNERS], const Real_t z[CORNERS])
{
  for (Index_t i = 0; i < CORNERS; ++i) {
    pfx[i] = Real_t(0.0);
    pfy[i] = Real_t(0.0);
    pfz[i] = Real_t(0.0);
  }
#define FACE(a, b, c, d)                                                                   \
  AddFaceNormal(&pfx[a], &pfy[a], &pfz[a], &pfx[b], &pfy[b], &pfz[b],                      \
                &pfx[c], &pfy[c], &pfz[c], &pfx[d], &pfy[d], &pfz[d],                      \
                x[a], y[a], z[a], x[b], y[b], z[b], x[c], y[c], z[c], x[d], y[d], z[d])
  FACE(0, 1, 2, 3);
  FACE(0, 4, 5, 1);
  FACE(1, 5, 6, 2);
  FACE(2, 6, 7, 3);
  FACE(3, 7, 4, 0);
  FACE(4, 7, 6, 5);
#undef FACE
}

static inline void SumStresses(const Real_t b[][CORNERS], const Real_t sxx, const Real_t syy, const Real_t szz,
                               Real_t fx[], Real_t fy[], Real_t fz[])
{
  for (Index_t i = 0; i < CORNERS; i++) {
    fx[i] = -(sxx * b[0][i]);
    fy[i] = -(syy * b[1][i]);
    fz[i] = -(szz * b[2][i]);
  }
}

static inline void IntegrateStress(Mesh& mesh, Real_t* sigxx, Real_t* sigyy, Real_t* sigzz, Real_t* determ,
                                   Index_t numElem, Index_t numNode)
{
  Index_t numElem8 = numElem * CORNERS;
  Real_t* fx_elem = Allocate<Real_t>(numElem8);
  Real_t* fy_elem = Allocate<Real_t>(numElem8);
  Real_t* fz_elem = Allocate<Real_t>(numElem8);

#pragma omp parallel for firstprivate(numElem)
  for (Index_t k = 0; k < numElem; ++k) {
    const Index_t* const elemToNode = mesh.nodelist(k);
    Real_t B[3][CORNERS];
    Real_t x_local[CORNERS], y_local[CORNERS], z_local[CORNERS];

    CollectNodes(mesh, elemToNode, x_local, y_local, z_local);
    ShapeDerivatives(x_local, y_local, z_local, B, &determ[k]);
    NodeNormals(B[0], B[1], B[2], x_local, y_local, z_local);
    SumStresses(B, sigxx[k], sigyy[k], sigzz[k], &fx_elem[k * CORNERS], &fy_elem[k * CORNERS], &fz_elem[k * CORNERS]);
  }

#pragma omp parallel for firstprivate(numNode)
  for (Index_t gnode = 0; gnode < numNode; ++gnode) {
    Index_t count = mesh.nodeElemCount(gnode);
    Index_t* cornerList = mesh.nodeElemCorners(gnode);
    Real_t fx_tmp = Real_t(0.0), fy_tmp = Real_t(0.0), fz_tmp = Real_t(0.0);
    for (Index_t i = 0; i < count; ++i) {
      Index_t ielem = cornerList[i];
      fx_tmp += fx_elem[ielem];
      fy_tmp += fy_elem[ielem];
      fz_tmp += fz_elem[ielem];
    }
    mesh.fx(gnode) = fx_tmp;
    mesh.fy(gnode) = fy_tmp;
    mesh.fz(gnode) = fz_tmp;
  }
  Release(&fz_elem);
  Release(&fy_elem);
  Release(&fx_elem);
}

static inline void VolumeDerivative(const Real_t x0, const Real_t x1, const Real_t x2,
                                    const Real_t x3, const Real_t x4, const Real_t x5,
                                    const Real_t y0, const Real_t y1, const Real_t y2,
                                    const Real_t y3, const Real_t y4, const Real_t y5,
                                    const Real_t z0, const Real_t z1, const Real_t z2,
                                    const Real_t z3, const Real_t z4, const Real_t z5,
                                    Real_t* dvdx, Real_t* dvdy, Real_t* dvdz)
{
  const Real_t twelfth = Real_t(1.0) / Real_t(12.0);
  *dvdx = (y1 + y2) * (z0 + z1) - (y0 + y1) * (z1 + z2) + (y0 + y4) * (z3 + z4) - (y3 + y4) * (z0 + z4) -
          (y2 + y5) * (z3 + z5) + (y3 + y5) * (z2 + z5);
  *dvdy = -(x1 + x2) * (z0 + z1) + (x0 + x1) * (z1 + z2) - (x0 + x4) * (z3 + z4) + (x3 + x4) * (z0 + z4) +
          (x2 + x5) * (z3 + z5) - (x3 + x5) * (z2 + z5);
  *dvdz = -(y1 + y2) * (x0 + x1) + (y0 + y1) * (x1 + x2) - (y0 + y4) * (x3 + x4) + (y3 + y4) * (x0 + x4) +
          (y2 + y5) * (x3 + x5) - (y3 + y5) * (x2 + x5);
  *dvdx *= twelfth;
  *dvdy *= twelfth;
  *dvdz *= twelfth;
}

static inline void VolumeDerivatives(Real_t dvdx[CORNERS], Real_t dvdy[CORNERS], Real_t dvdz[CORNERS],
                                     const Real_t x[CORNERS], const Real_t y[CORNERS], const Real_t z[CORNERS])
{
#define CORNER(i, a, b, c, d, e, f)                                                                \
  VolumeDerivative(x[a], x[b], x[c], x[d], x[e], x[f], y[a], y[b], y[c], y[d], y[e], y[f],         \
                   z[a], z[b], z[c], z[d], z[e], z[f], &dvdx[i], &dvdy[i], &dvdz[i])
  CORNER(0, 1, 2, 3, 4, 5, 7);
  CORNER(3, 0, 1, 2, 7, 4, 6);
  CORNER(2, 3, 0, 1, 6, 7, 5);
  CORNER(1, 2, 3, 0, 5, 6, 4);
  CORNER(4, 7, 6, 5, 0, 3, 1);
  CORNER(5, 4, 7, 6, 1, 0, 2);
  CORNER(6, 5, 4, 7, 2, 1, 3);
  CORNER(7, 6, 5, 4, 3, 2, 0);
#undef CORNER
}

static inline void HourglassForce(Real_t* xd, Real_t* yd, Real_t* zd, Real_t hourgam[][MODES], Real_t coefficient,
                                  Real_t* hgfx, Real_t* hgfy, Real_t* hgfz)
{
  Real_t hxx[MODES];
  for (Index_t i = 0; i < MODES; i++) {
    hxx[i] = hourgam[0][i] * xd[0] + hourgam[1][i] * xd[1] + hourgam[2][i] * xd[2] + hourgam[3][i] * xd[3] +
             hourgam[4][i] * xd[4] + hourgam[5][i] * xd[5] + hourgam[6][i] * xd[6] + hourgam[7][i] * xd[7];
  }
  for (Index_t i = 0; i < CORNERS; i++) {
    hgfx[i] = coefficient *
              (hourgam[i][0] * hxx[0] + hourgam[i][1] * hxx[1] + hourgam[i][2] * hxx[2] + hourgam[i][3] * hxx[3]);
  }
  for (Index_t i = 0; i < MODES; i++) {
    hxx[i] = hourgam[0][i] * yd[0] + hourgam[1][i] * yd[1] + hourgam[2][i] * yd[2] + hourgam[3][i] * yd[3] +
             hourgam[4][i] * yd[4] + hourgam[5][i] * yd[5] + hourgam[6][i] * yd[6] + hourgam[7][i] * yd[7];
  }
  for (Index_t i = 0; i < CORNERS; i++) {
    hgfy[i] = coefficient *
              (hourgam[i][0] * hxx[0] + hourgam[i][1] * hxx[1] + hourgam[i][2] * hxx[2] + hourgam[i][3] * hxx[3]);
  }
  for (Index_t i = 0; i < MODES; i++) {
    hxx[i] = hourgam[0][i] * zd[0] + hourgam[1][i] * zd[1] + hourgam[2][i] * zd[2] + hourgam[3][i] * zd[3] +
             hourgam[4][i] * zd[4] + hourgam[5][i] * zd[5] + hourgam[6][i] * zd[6] + hourgam[7][i] * zd[7];
  }
  for (Index_t i = 0; i < CORNERS; i++) {
    hgfz[i] = coefficient *
              (hourgam[i][0] * hxx[0] + hourgam[i][1] * hxx[1] + hourgam[i][2] * hxx[2] + hourgam[i][3] * hxx[3]);
  }
}

static inline void HourglassControlForces(Mesh& mesh, Real_t* determ, Real_t* x8n, Real_t* y8n, Real_t* z8n,
                                          Real_t* dvdx, Real_t* dvdy, Real_t* dvdz, Real_t hourg,
                                          Index_t numElem, Index_t numNode)
{
  Index_t numElem8 = numElem * CORNERS;
  std::unique_ptr<Real_t[]> fx_elem(new Real_t[numElem8]);
  std::unique_ptr<Real_t[]> fy_elem(new Real_t[numElem8]);
  std::unique_ptr<Real_t[]> fz_elem(new Real_t[numElem8]);

  static const Real_t gamma[MODES][CORNERS] = {
    {1., 1., -1., -1., -1., -1., 1., 1.},
    {1., -1., -1., 1., -1., 1., 1., -1.},
    {1., -1., 1., -1., 1., -1., 1., -1.},
    {-1., 1., -1., 1., 1., -1., 1., -1.}};

#pragma omp parallel for firstprivate(numElem, hourg)
  for (Index_t i2 = 0; i2 < numElem; ++i2) {
    Real_t hgfx[CORNERS], hgfy[CORNERS], hgfz[CORNERS];
    Real_t coefficient;
    Real_t hourgam[CORNERS][MODES];
    Real_t xd1[CORNERS], yd1[CORNERS], zd1[CORNERS];
    const Index_t* elemToNode = mesh.nodelist(i2);
    Index_t i3 = CORNERS * i2;
    Real_t volinv = Real_t(1.0) / determ[i2];

    for (Index_t i1 = 0; i1 < MODES; ++i1) {
      Real_t hourmodx = x8n[i3] * gamma[i1][0] + x8n[i3 + 1] * gamma[i1][1] + x8n[i3 + 2] * gamma[i1][2] +
                        x8n[i3 + 3] * gamma[i1][3] + x8n[i3 + 4] * gamma[i1][4] + x8n[i3 + 5] * gamma[i1][5] +
                        x8n[i3 + 6] * gamma[i1][6] + x8n[i3 + 7] * gamma[i1][7];
      Real_t hourmody = y8n[i3] * gamma[i1][0] + y8n[i3 + 1] * gamma[i1][1] + y8n[i3 + 2] * gamma[i1][2] +
                        y8n[i3 + 3] * gamma[i1][3] + y8n[i3 + 4] * gamma[i1][4] + y8n[i3 + 5] * gamma[i1][5] +
                        y8n[i3 + 6] * gamma[i1][6] + y8n[i3 + 7] * gamma[i1][7];
      Real_t hourmodz = z8n[i3] * gamma[i1][0] + z8n[i3 + 1] * gamma[i1][1] + z8n[i3 + 2] * gamma[i1][2] +
                        z8n[i3 + 3] * gamma[i1][3] + z8n[i3 + 4] * gamma[i1][4] + z8n[i3 + 5] * gamma[i1][5] +
                        z8n[i3 + 6] * gamma[i1][6] + z8n[i3 + 7] * gamma[i1][7];
      for (Index_t c = 0; c < CORNERS; ++c)
        hourgam[c][i1] =
          gamma[i1][c] - volinv * (dvdx[i3 + c] * hourmodx + dvdy[i3 + c] * hourmody + dvdz[i3 + c] * hourmodz);
    }

    // forces of each corner
    Real_t ss1 = mesh.ss(i2);
    Real_t mass1 = mesh.elemMass(i2);
    Real_t volume13 = cbrt(determ[i2]);
    for (Index_t c = 0; c < CORNERS; ++c) {
      Index_t n = elemToNode[c];
      xd1[c] = mesh.xd(n);
      yd1[c] = mesh.yd(n);
      zd1[c] = mesh.zd(n);
    }
    coefficient = -hourg * Real_t(0.01) * ss1 * mass1 / volume13;
    HourglassForce(xd1, yd1, zd1, hourgam, coefficient, hgfx, hgfy, hgfz);

    Real_t* fx_local = &fx_elem[i3];
    Real_t* fy_local = &fy_elem[i3];
    Real_t* fz_local = &fz_elem[i3];
    for (Index_t c = 0; c < CORNERS; ++c) {
      fx_local[c] = hgfx[c];
      fy_local[c] = hgfy[c];
      fz_local[c] = hgfz[c];
    }
  }

#pragma omp parallel for firstprivate(numNode)
  for (Index_t gnode = 0; gnode < numNode; ++gnode) {
    const Index_t count = mesh.nodeElemCount(gnode);
    const Index_t* cornerList = mesh.nodeElemCorners(gnode);
    Real_t sum[3] = {0.0, 0.0, 0.0};
    for (Index_t i = 0; i < count; ++i) {
      Index_t ielem = cornerList[i];
      sum[0] += fx_elem[ielem];
      sum[1] += fy_elem[ielem];
      sum[2] += fz_elem[ielem];
    }
    mesh.fx(gnode) += sum[0];
    mesh.fy(gnode) += sum[1];
    mesh.fz(gnode) += sum[2];
  }
}

static inline void HourglassControl(Mesh& mesh, Real_t determ[], Real_t hgcoef)
{
  Index_t numElem = mesh.numElem();
  Index_t numElem8 = numElem * CORNERS;
  Real_t* dvdx = Allocate<Real_t>(numElem8);
  Real_t* dvdy = Allocate<Real_t>(numElem8);
  Real_t* dvdz = Allocate<Real_t>(numElem8);
  Real_t* x8n = Allocate<Real_t>(numElem8);
  Real_t* y8n = Allocate<Real_t>(numElem8);
  Real_t* z8n = Allocate<Real_t>(numElem8);

#pragma omp parallel for firstprivate(numElem)
  for (Index_t i = 0; i < numElem; ++i) {
    Real_t x1[CORNERS], y1[CORNERS], z1[CORNERS];
    Real_t pfx[CORNERS], pfy[CORNERS], pfz[CORNERS];
    Index_t* elemToNode = mesh.nodelist(i);
    CollectNodes(mesh, elemToNode, x1, y1, z1);
    VolumeDerivatives(pfx, pfy, pfz, x1, y1, z1);

    for (Index_t ii = 0; ii < CORNERS; ++ii) {
      Index_t jj = CORNERS * i + ii;
      dvdx[jj] = pfx[ii];
      dvdy[jj] = pfy[ii];
      dvdz[jj] = pfz[ii];
      x8n[jj] = x1[ii];
      y8n[jj] = y1[ii];
      z8n[jj] = z1[ii];
    }
    determ[i] = mesh.volo(i) * mesh.v(i);

    if (mesh.v(i) <= Real_t(0.0)) {
      exit(VolumeFailure);
    }
  }
  if (hgcoef > Real_t(0.)) {
    HourglassControlForces(mesh, determ, x8n, y8n, z8n, dvdx, dvdy, dvdz, hgcoef, numElem, mesh.numNode());
  }
  Release(&z8n); Release(&y8n); Release(&x8n);
  Release(&dvdz); Release(&dvdy); Release(&dvdx);
}

static inline void VolumeForces(Mesh& mesh)
{
  Index_t numElem = mesh.numElem();
  if (numElem != 0) {
    Real_t hgcoef = mesh.hgcoef();
    Real_t* sigxx = Allocate<Real_t>(numElem);
    Real_t* sigyy = Allocate<Real_t>(numElem);
    Real_t* sigzz = Allocate<Real_t>(numElem);
    Real_t* determ = Allocate<Real_t>(numElem);

    InitStressTerms(mesh, sigxx, sigyy, sigzz, numElem);
    IntegrateStress(mesh, sigxx, sigyy, sigzz, determ, numElem, mesh.numNode());

#pragma omp parallel for firstprivate(numElem)
    for (Index_t k = 0; k < numElem; ++k) {
      if (determ[k] <= Real_t(0.0)) {
        exit(VolumeFailure);
      }
    }
    HourglassControl(mesh, determ, hgcoef);
    Release(&determ);
    Release(&sigzz);
    Release(&sigyy);
    Release(&sigxx);
  }
}

static inline void NodalForces(Mesh& mesh)
{
  Index_t numNode = mesh.numNode();
#pragma omp parallel for firstprivate(numNode)
  for (Index_t i = 0; i < numNode; ++i) {
    mesh.fx(i) = Real_t(0.0);
    mesh.fy(i) = Real_t(0.0);
    mesh.fz(i) = Real_t(0.0);
  }
  VolumeForces(mesh);
  Mesh::Count();
}

// ---- motion of the nodes -------------------------------------------------------------------------------------------

static inline void NodalAcceleration(Mesh& mesh, Index_t numNode)
{
#pragma omp parallel for firstprivate(numNode)
  for (Index_t i = 0; i < numNode; ++i) {
    mesh.xdd(i) = mesh.fx(i) / mesh.nodalMass(i);
    mesh.ydd(i) = mesh.fy(i) / mesh.nodalMass(i);
    mesh.zdd(i) = mesh.fz(i) / mesh.nodalMass(i);
  }
}

static inline void AccelerationBoundary(Mesh& mesh)
{
  Index_t size = mesh.sizeX();
  Index_t numNodeBC = (size + 1) * (size + 1);
#pragma omp parallel
  {
    if (!mesh.symmXempty() != 0) {
#pragma omp for nowait firstprivate(numNodeBC)
      for (Index_t i = 0; i < numNodeBC; ++i)
        mesh.xdd(mesh.symmX(i)) = Real_t(0.0);
    }
    if (!mesh.symmYempty() != 0) {
#pragma omp for nowait firstprivate(numNodeBC)
      for (Index_t i = 0; i < numNodeBC; ++i)
        mesh.ydd(mesh.symmY(i)) = Real_t(0.0);
    }
    if (!mesh.symmZempty() != 0) {
#pragma omp for nowait firstprivate(numNodeBC)
      for (Index_t i = 0; i < numNodeBC; ++i)
        mesh.zdd(mesh.symmZ(i)) = Real_t(0.0);
    }
  }
}

static inline void NodalVelocity(Mesh& mesh, const Real_t dt, const Real_t u_cut, Index_t numNode)
{
#pragma omp parallel for firstprivate(numNode)
  for (Index_t i = 0; i < numNode; ++i) {
    Real_t xdtmp, ydtmp, zdtmp;
    xdtmp = mesh.xd(i) + mesh.xdd(i) * dt;
    if (Magnitude(xdtmp) < u_cut) xdtmp = Real_t(0.0);
    mesh.xd(i) = xdtmp;

    ydtmp = mesh.yd(i) + mesh.ydd(i) * dt;
    if (Magnitude(ydtmp) < u_cut) ydtmp = Real_t(0.0);
    mesh.yd(i) = ydtmp;

    zdtmp = mesh.zd(i) + mesh.zdd(i) * dt;
    if (Magnitude(zdtmp) < u_cut) zdtmp = Real_t(0.0);
    mesh.zd(i) = zdtmp;
  }
}

static inline void NodalPosition(Mesh& mesh, const Real_t dt, Index_t numNode)
{
#pragma omp parallel for firstprivate(numNode)
  for (Index_t i = 0; i < numNode; ++i) {
    mesh.x(i) += mesh.xd(i) * dt;
    mesh.y(i) += mesh.yd(i) * dt;
    mesh.z(i) += mesh.zd(i) * dt;
  }
}

static inline void LagrangeNodal(Mesh& mesh)
{
  const Real_t delt = mesh.deltatime();
  Real_t u_cut = mesh.u_cut();

  NodalForces(mesh);
  NodalAcceleration(mesh, mesh.numNode());
  AccelerationBoundary(mesh);
  NodalVelocity(mesh, delt, u_cut, mesh.numNode());
  NodalPosition(mesh, delt, mesh.numNode());
}

// ---- kinematics of the elements ------------------------------------------------------------------------------------

static inline Real_t FaceArea(const Real_t x0, const Real_t x1, const Real_t x2, const Real_t x3,
                              const Real_t y0, const Real_t y1, const Real_t y2, const Real_t y3,
                              const Real_t z0, const Real_t z1, const Real_t z2, const Real_t z3)
{
  Real_t fx = (x2 - x0) - (x3 - x1);
  Real_t fy = (y2 - y0) - (y3 - y1);
  Real_t fz = (z2 - z0) - (z3 - z1);
  Real_t gx = (x2 - x0) + (x3 - x1);
  Real_t gy = (y2 - y0) + (y3 - y1);
  Real_t gz = (z2 - z0) + (z3 - z1);
  Real_t area = (fx * fx + fy * fy + fz * fz) * (gx * gx + gy * gy + gz * gz) -
                (fx * gx + fy * gy + fz * gz) * (fx * gx + fy * gy + fz * gz);
  return area;
}

static inline Real_t CharacteristicLength(const Real_t x[CORNERS], const Real_t y[CORNERS], const Real_t z[CORNERS],
                                          const Real_t volume)
{
  static const Index_t face[FACES][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                         {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
  Real_t charLength = Real_t(0.0);
  for (Index_t f = 0; f < FACES; ++f) {
    const Index_t a = face[f][0], b = face[f][1], c = face[f][2], d = face[f][3];
    Real_t area = FaceArea(x[a], x[b], x[c], x[d], y[a], y[b], y[c], y[d], z[a], z[b], z[c], z[d]);
    charLength = std::max(area, charLength);
  }
  charLength = Real_t(4.0) * volume / Root(charLength);
  return charLength;
}

static inline void VelocityGradient(const Real_t* const xvel, const Real_t* const yvel, const Real_t* const zvel,
                                    const Real_t b[][CORNERS], const Real_t detJ, Real_t* const d)
{
  const Real_t inv_detJ = Real_t(1.0) / detJ;
  Real_t dyddx, dxddy, dzddx, dxddz, dzddy, dyddz;
  const Real_t* const pfx = b[0];
  const Real_t* const pfy = b[1];
  const Real_t* const pfz = b[2];

#define DIFFERENCES(pf, vel)                                                                             \
  (inv_detJ * (pf[0] * (vel[0] - vel[6]) + pf[1] * (vel[1] - vel[7]) + pf[2] * (vel[2] - vel[4]) +       \
               pf[3] * (vel[3] - vel[5])))

  d[0] = DIFFERENCES(pfx, xvel);
  d[1] = DIFFERENCES(pfy, yvel);
  d[2] = DIFFERENCES(pfz, zvel);
  dyddx = DIFFERENCES(pfx, yvel);
  dxddy = DIFFERENCES(pfy, xvel);
  dzddx = DIFFERENCES(pfx, zvel);
  dxddz = DIFFERENCES(pfz, xvel);
  dzddy = DIFFERENCES(pfy, zvel);
  dyddz = DIFFERENCES(pfz, yvel);
  d[5] = Real_t(.5) * (dxddy + dyddx);
  d[4] = Real_t(.5) * (dxddz + dzddx);
  d[3] = Real_t(.5) * (dzddy + dyddz);
}

void Kinematics(Mesh& mesh, Real_t deltaTime, Index_t numElem)
{
#pragma omp parallel for firstprivate(numElem, deltaTime)
  for (Index_t k = 0; k < numElem; ++k) {
    Real_t B[3][CORNERS];
    Real_t D[6];
    Real_t x_local[CORNERS], y_local[CORNERS], z_local[CORNERS];
    Real_t xd_local[CORNERS], yd_local[CORNERS], zd_local[CORNERS];
    Real_t detJ = Real_t(0.0);
    Real_t volume, relativeVolume;
    const Index_t* const elemToNode = mesh.nodelist(k);

    CollectNodes(mesh, elemToNode, x_local, y_local, z_local);

    volume = CornerVolume(x_local, y_local, z_local);
    relativeVolume = volume / mesh.volo(k);
    mesh.vnew(k) = relativeVolume;
    mesh.delv(k) = relativeVolume - mesh.v(k);
    mesh.arealg(k) = CharacteristicLength(x_local, y_local, z_local, volume);

    for (Index_t lnode = 0; lnode < CORNERS; ++lnode) {
      Index_t gnode = elemToNode[lnode];
      xd_local[lnode] = mesh.xd(gnode);
      yd_local[lnode] = mesh.yd(gnode);
      zd_local[lnode] = mesh.zd(gnode);
    }

    Real_t dt2 = Real_t(0.5) * deltaTime;
    for (Index_t j = 0; j < CORNERS; ++j) {
      x_local[j] -= dt2 * xd_local[j];
      y_local[j] -= dt2 * yd_local[j];
      z_local[j] -= dt2 * zd_local[j];
    }
    ShapeDerivatives(x_local, y_local, z_local, B, &detJ);
    VelocityGradient(xd_local, yd_local, zd_local, B, detJ, D);

    mesh.dxx(k) = D[0];
    mesh.dyy(k) = D[1];
    mesh.dzz(k) = D[2];
  }
  Mesh::Count();
}

static inline void LagrangeElements(Mesh& mesh)
{
  Index_t numElem = mesh.numElem();
  if (numElem > 0) {
    const Real_t deltatime = mesh.deltatime();
    mesh.AllocateStrains(numElem);
    Kinematics(mesh, deltatime, numElem);

#pragma omp parallel for firstprivate(numElem)
    for (Index_t k = 0; k < numElem; ++k) {
      Real_t vdov = mesh.dxx(k) + mesh.dyy(k) + mesh.dzz(k);
      Real_t vdovthird = vdov / Real_t(3.0);
      mesh.vdov(k) = vdov;
      mesh.dxx(k) -= vdovthird;
      mesh.dyy(k) -= vdovthird;
      mesh.dzz(k) -= vdovthird;
      if (mesh.vnew(k) <= Real_t(0.0)) {
        exit(VolumeFailure);
      }
    }
    mesh.DeallocateStrains();
  }
}

// ---- artificial viscosity ------------------------------------------------------------------------------------------

static inline void ViscosityGradients(Mesh& mesh)
{
  Index_t numElem = mesh.numElem();
#pragma omp parallel for firstprivate(numElem)
  for (Index_t i = 0; i < numElem; ++i) {
    const Real_t ptiny = Real_t(1.e-36);
    Real_t ax, ay, az, dxv, dyv, dzv;
    const Index_t* elemToNode = mesh.nodelist(i);
    Real_t X[CORNERS], Y[CORNERS], Z[CORNERS], U[CORNERS], V[CORNERS], W[CORNERS];
    for (Index_t c = 0; c < CORNERS; c++) {
      const Index_t n = elemToNode[c];
      X[c] = mesh.x(n); Y[c] = mesh.y(n); Z[c] = mesh.z(n);
      U[c] = mesh.xd(n); V[c] = mesh.yd(n); W[c] = mesh.zd(n);
    }

    Real_t vol = mesh.volo(i) * mesh.vnew(i);
    Real_t norm = Real_t(1.0) / (vol + ptiny);

    Real_t dxj = Real_t(-0.25) * ((X[0] + X[1] + X[5] + X[4]) - (X[3] + X[2] + X[6] + X[7]));
    Real_t dyj = Real_t(-0.25) * ((Y[0] + Y[1] + Y[5] + Y[4]) - (Y[3] + Y[2] + Y[6] + Y[7]));
    Real_t dzj = Real_t(-0.25) * ((Z[0] + Z[1] + Z[5] + Z[4]) - (Z[3] + Z[2] + Z[6] + Z[7]));
    Real_t dxi = Real_t(0.25) * ((X[1] + X[2] + X[6] + X[5]) - (X[0] + X[3] + X[7] + X[4]));
    Real_t dyi = Real_t(0.25) * ((Y[1] + Y[2] + Y[6] + Y[5]) - (Y[0] + Y[3] + Y[7] + Y[4]));
    Real_t dzi = Real_t(0.25) * ((Z[1] + Z[2] + Z[6] + Z[5]) - (Z[0] + Z[3] + Z[7] + Z[4]));
    Real_t dxk = Real_t(0.25) * ((X[4] + X[5] + X[6] + X[7]) - (X[0] + X[1] + X[2] + X[3]));
    Real_t dyk = Real_t(0.25) * ((Y[4] + Y[5] + Y[6] + Y[7]) - (Y[0] + Y[1] + Y[2] + Y[3]));
    Real_t dzk = Real_t(0.25) * ((Z[4] + Z[5] + Z[6] + Z[7]) - (Z[0] + Z[1] + Z[2] + Z[3]));

    // along zeta: i x j
    ax = dyi * dzj - dzi * dyj;
    ay = dzi * dxj - dxi * dzj;
    az = dxi * dyj - dyi * dxj;
    mesh.delx_zeta(i) = vol / Root(ax * ax + ay * ay + az * az + ptiny);
    ax *= norm; ay *= norm; az *= norm;
    dxv = Real_t(0.25) * ((U[4] + U[5] + U[6] + U[7]) - (U[0] + U[1] + U[2] + U[3]));
    dyv = Real_t(0.25) * ((V[4] + V[5] + V[6] + V[7]) - (V[0] + V[1] + V[2] + V[3]));
    dzv = Real_t(0.25) * ((W[4] + W[5] + W[6] + W[7]) - (W[0] + W[1] + W[2] + W[3]));
    mesh.delv_zeta(i) = ax * dxv + ay * dyv + az * dzv;

    // along xi: j x k
    ax = dyj * dzk - dzj * dyk;
    ay = dzj * dxk - dxj * dzk;
    az = dxj * dyk - dyj * dxk;
    mesh.delx_xi(i) = vol / Root(ax * ax + ay * ay + az * az + ptiny);
    ax *= norm; ay *= norm; az *= norm;
    dxv = Real_t(0.25) * ((U[1] + U[2] + U[6] + U[5]) - (U[0] + U[3] + U[7] + U[4]));
    dyv = Real_t(0.25) * ((V[1] + V[2] + V[6] + V[5]) - (V[0] + V[3] + V[7] + V[4]));
    dzv = Real_t(0.25) * ((W[1] + W[2] + W[6] + W[5]) - (W[0] + W[3] + W[7] + W[4]));
    mesh.delv_xi(i) = ax * dxv + ay * dyv + az * dzv;

    // along eta: k x i
    ax = dyk * dzi - dzk * dyi;
    ay = dzk * dxi - dxk * dzi;
    az = dxk * dyi - dyk * dxi;
    mesh.delx_eta(i) = vol / Root(ax * ax + ay * ay + az * az + ptiny);
    ax *= norm; ay *= norm; az *= norm;
    dxv = Real_t(-0.25) * ((U[0] + U[1] + U[5] + U[4]) - (U[3] + U[2] + U[6] + U[7]));
    dyv = Real_t(-0.25) * ((V[0] + V[1] + V[5] + V[4]) - (V[3] + V[2] + V[6] + V[7]));
    dzv = Real_t(-0.25) * ((W[0] + W[1] + W[5] + W[4]) - (W[3] + W[2] + W[6] + W[7]));
    mesh.delv_eta(i) = ax * dxv + ay * dyv + az * dzv;
  }
}

static inline void RegionViscosity(Mesh& mesh, Int_t r, Real_t ptiny)
{
  const Real_t monoq_limiter = mesh.monoq_limiter();
  const Real_t monoq_max_slope = mesh.monoq_max_slope();
  const Real_t qlc_monoq = mesh.qlc_monoq();
  const Real_t qqc_monoq = mesh.qqc_monoq();

#pragma omp parallel for firstprivate(qlc_monoq, qqc_monoq, monoq_limiter, monoq_max_slope, ptiny)
  for (Index_t i = 0; i < mesh.regElemSize(r); ++i) {
    Index_t ielem = mesh.regElemlist(r)[i];
    Real_t qlin, qquad, phixi, phieta, phizeta;
    Int_t bcMask = mesh.elemBC(ielem);
    Real_t delvm = 0.0, delvp = 0.0;

    // along xi
    Real_t norm = Real_t(1.) / (mesh.delv_xi(ielem) + ptiny);
    switch (bcMask & X_LOW_MASK) {
      case LOW_X: /* needs a message: fall through */
      case 0: delvm = mesh.delv_xi(mesh.lxim(ielem)); break;
      case LOW_X_SYMMETRY: delvm = mesh.delv_xi(ielem); break;
      case LOW_X_FREE: delvm = Real_t(0.0); break;
      default:
        fprintf(stderr, "no such boundary in file %s at line %d\n", __FILE__, __LINE__);
        delvm = 0;
        break;
    }
    switch (bcMask & X_HIGH_MASK) {
      case HIGH_X:
      case 0: delvp = mesh.delv_xi(mesh.lxip(ielem)); break;
      case HIGH_X_SYMMETRY: delvp = mesh.delv_xi(ielem); break;
      case HIGH_X_FREE: delvp = Real_t(0.0); break;
      default: delvp = 0; break;
    }
    delvm = delvm * norm;
    delvp = delvp * norm;
    phixi = Real_t(.5) * (delvm + delvp);
    delvm *= monoq_limiter;
    delvp *= monoq_limiter;
    if (delvm < phixi) phixi = delvm;
    if (delvp < phixi) phixi = delvp;
    if (phixi < Real_t(0.)) phixi = Real_t(0.);
    if (phixi > monoq_max_slope) phixi = monoq_max_slope;

    // along eta
    norm = Real_t(1.) / (mesh.delv_eta(ielem) + ptiny);
    switch (bcMask & Y_LOW_MASK) {
      case LOW_Y:
      case 0: delvm = mesh.delv_eta(mesh.letam(ielem)); break;
      case LOW_Y_SYMMETRY: delvm = mesh.delv_eta(ielem); break;
      case LOW_Y_FREE: delvm = Real_t(0.0); break;
      default: delvm = 0; break;
    }
    switch (bcMask & Y_HIGH_MASK) {
      case HIGH_Y:
      case 0: delvp = mesh.delv_eta(mesh.letap(ielem)); break;
      case HIGH_Y_SYMMETRY: delvp = mesh.delv_eta(ielem); break;
      case HIGH_Y_FREE: delvp = Real_t(0.0); break;
      default: delvp = 0; break;
    }
    delvm = delvm * norm;
    delvp = delvp * norm;
    phieta = Real_t(.5) * (delvm + delvp);
    delvm *= monoq_limiter;
    delvp *= monoq_limiter;
    phieta = delvm < phieta ? delvm : (delvp < phieta ? delvp : phieta);
    if (phieta < Real_t(0.)) phieta = Real_t(0.);
    if (phieta > monoq_max_slope) phieta = monoq_max_slope;

    // along zeta
    norm = Real_t(1.) / (mesh.delv_zeta(ielem) + ptiny);
    switch (bcMask & Z_LOW_MASK) {
      case LOW_Z:
      case 0: delvm = mesh.delv_zeta(mesh.lzetam(ielem)); break;
      case LOW_Z_SYMMETRY: delvm = mesh.delv_zeta(ielem); break;
      case LOW_Z_FREE: delvm = Real_t(0.0); break;
      default: delvm = 0; break;
    }
    switch (bcMask & Z_HIGH_MASK) {
      case HIGH_Z:
      case 0: delvp = mesh.delv_zeta(mesh.lzetap(ielem)); break;
      case HIGH_Z_SYMMETRY: delvp = mesh.delv_zeta(ielem); break;
      case HIGH_Z_FREE: delvp = Real_t(0.0); break;
      default: delvp = 0; break;
    }
    delvm = delvm * norm;
    delvp = delvp * norm;
    phizeta = Real_t(.5) * (delvm + delvp);
    delvm *= monoq_limiter;
    delvp *= monoq_limiter;
    phizeta = Smaller(Smaller(delvm, delvp), phizeta);
    phizeta = Larger(phizeta, Real_t(0.));
    phizeta = Smaller(phizeta, monoq_max_slope);

    // remove length scale
    if (mesh.vdov(ielem) > Real_t(0.)) {
      qlin = Real_t(0.);
      qquad = Real_t(0.);
    } else {
      Real_t delvxxi = mesh.delv_xi(ielem) * mesh.delx_xi(ielem);
      Real_t delvxeta = mesh.delv_eta(ielem) * mesh.delx_eta(ielem);
      Real_t delvxzeta = mesh.delv_zeta(ielem) * mesh.delx_zeta(ielem);
      if (delvxxi > Real_t(0.)) delvxxi = Real_t(0.);
      if (delvxeta > Real_t(0.)) delvxeta = Real_t(0.);
      if (delvxzeta > Real_t(0.)) delvxzeta = Real_t(0.);

      Real_t rho = mesh.elemMass(ielem) / (mesh.volo(ielem) * mesh.vnew(ielem));
      qlin = -qlc_monoq * rho *
             (delvxxi * (Real_t(1.) - phixi) + delvxeta * (Real_t(1.) - phieta) + delvxzeta * (Real_t(1.) - phizeta));
      qquad = qqc_monoq * rho *
              (Square(delvxxi) * (Real_t(1.) - Square(phixi)) + Square(delvxeta) * (Real_t(1.) - Square(phieta)) +
               Square(delvxzeta) * (Real_t(1.) - Square(phizeta)));
    }
    mesh.qq(ielem) = qquad;
    mesh.ql(ielem) = qlin;
  }
}

static inline void Viscosity(Mesh& mesh)
{
  Index_t numElem = mesh.numElem();
  if (numElem != 0) {
    Index_t allElem = numElem + 2 * mesh.sizeX() * mesh.sizeX();
    mesh.AllocateGradients(numElem, allElem);
    ViscosityGradients(mesh);
    const Real_t ptiny = Real_t(1.e-36);
    for (Index_t r = 0; r < mesh.numReg(); ++r) {
      if (mesh.regElemSize(r) > 0) {
        RegionViscosity(mesh, r, ptiny);
      }
    }
    mesh.DeallocateGradients();

    // a viscosity beyond all bounds stops the run
    Index_t idx = -1;
    for (Index_t i = 0; i < numElem; ++i) {
      if (mesh.q(i) > mesh.qstop()) {
        idx = i;
        break;
      }
    }
    if (idx >= 0) {
      exit(ViscosityFailure);
    }
  }
}

// ---- equation of state ---------------------------------------------------------------------------------------------

static inline void Pressure(Real_t* p_new, Real_t* bvc, Real_t* pbvc, Real_t* e_old, Real_t* compression, Real_t* vnewc,
                            Real_t pmin, Real_t p_cut, Real_t eosvmax, Index_t length, Index_t* regElemList)
{
#pragma omp parallel for firstprivate(length)
  for (Index_t i = 0; i < length; ++i) {
    Real_t c1s = Real_t(2.0) / Real_t(3.0);
    bvc[i] = c1s * (compression[i] + Real_t(1.));
    pbvc[i] = c1s;
  }

#pragma omp parallel for firstprivate(length, pmin, p_cut, eosvmax)
  for (Index_t i = 0; i < length; ++i) {
    Index_t ielem = regElemList[i];
    p_new[i] = bvc[i] * e_old[i];
    if (Magnitude(p_new[i]) < p_cut) p_new[i] = Real_t(0.0);
    if (vnewc[ielem] >= eosvmax) p_new[i] = Real_t(0.0);  /* far expanded */
    if (p_new[i] < pmin) p_new[i] = pmin;
  }
}

static inline void Energy(Real_t* p_new, Real_t* e_new, Real_t* q_new, Real_t* bvc, Real_t* pbvc,
                          Real_t* p_old, Real_t* e_old, Real_t* q_old, Real_t* compression, Real_t* compHalfStep,
                          Real_t* vnewc, Real_t* work, Real_t* delvc, Real_t pmin, Real_t p_cut, Real_t e_cut,
                          Real_t q_cut, Real_t emin, Real_t* qq_old, Real_t* ql_old, Real_t rho0, Real_t eosvmax,
                          Index_t length, Index_t* regElemList)
{
  Real_t* pHalfStep = Allocate<Real_t>(length);

#pragma omp parallel for firstprivate(length, emin)
  for (Index_t i = 0; i < length; ++i) {
    e_new[i] = e_old[i] - Real_t(0.5) * delvc[i] * (p_old[i] + q_old[i]) + Real_t(0.5) * work[i];
    if (e_new[i] < emin) {
      e_new[i] = emin;
    }
  }

  Pressure(pHalfStep, bvc, pbvc, e_new, compHalfStep, vnewc, pmin, p_cut, eosvmax, length, regElemList);

#pragma omp parallel for firstprivate(length, rho0)
  for (Index_t i = 0; i < length; ++i) {
    Real_t vhalf = Real_t(1.) / (Real_t(1.) + compHalfStep[i]);
    if (delvc[i] > Real_t(0.)) {
      q_new[i] = Real_t(0.);
    } else {
      Real_t ssc = (pbvc[i] * e_new[i] + vhalf * vhalf * bvc[i] * pHalfStep[i]) / rho0;
      if (ssc <= Real_t(.1111111e-36)) {
        ssc = Real_t(.3333333e-18);
      } else {
        ssc = Root(ssc);
      }
      q_new[i] = (ssc * ql_old[i] + qq_old[i]);
    }
    e_new[i] = e_new[i] + Real_t(0.5) * delvc[i] *
                            (Real_t(3.0) * (p_old[i] + q_old[i]) - Real_t(4.0) * (pHalfStep[i] + q_new[i]));
  }

#pragma omp parallel for firstprivate(length, emin, e_cut)
  for (Index_t i = 0; i < length; ++i) {
    e_new[i] += Real_t(0.5) * work[i];
    if (Magnitude(e_new[i]) < e_cut) e_new[i] = Real_t(0.);
    if (e_new[i] < emin) e_new[i] = emin;
  }

  Pressure(p_new, bvc, pbvc, e_new, compression, vnewc, pmin, p_cut, eosvmax, length, regElemList);

#pragma omp parallel for firstprivate(length, rho0, emin, e_cut)
  for (Index_t i = 0; i < length; ++i) {
    const Real_t sixth = Real_t(1.0) / Real_t(6.0);
    Index_t ielem = regElemList[i];
    Real_t q_tilde;
    if (delvc[i] > Real_t(0.)) {
      q_tilde = Real_t(0.);
    } else {
      Real_t ssc = (pbvc[i] * e_new[i] + vnewc[ielem] * vnewc[ielem] * bvc[i] * p_new[i]) / rho0;
      ssc = (ssc <= Real_t(.1111111e-36)) ? Real_t(.3333333e-18) : Root(ssc);
      q_tilde = (ssc * ql_old[i] + qq_old[i]);
    }
    e_new[i] = e_new[i] - (Real_t(7.0) * (p_old[i] + q_old[i]) - Real_t(8.0) * (pHalfStep[i] + q_new[i]) +
                           (p_new[i] + q_tilde)) * delvc[i] * sixth;
    if (Magnitude(e_new[i]) < e_cut) e_new[i] = Real_t(0.);
    if (e_new[i] < emin) e_new[i] = emin;
  }

  Pressure(p_new, bvc, pbvc, e_new, compression, vnewc, pmin, p_cut, eosvmax, length, regElemList);

#pragma omp parallel for firstprivate(length, rho0, q_cut)
  for (Index_t i = 0; i < length; ++i) {
    Index_t ielem = regElemList[i];
    if (delvc[i] <= Real_t(0.)) {
      Real_t ssc = (pbvc[i] * e_new[i] + vnewc[ielem] * vnewc[ielem] * bvc[i] * p_new[i]) / rho0;
      if (ssc <= Real_t(.1111111e-36)) {
        ssc = Real_t(.3333333e-18);
      } else {
        ssc = Root(ssc);
      }
      q_new[i] = (ssc * ql_old[i] + qq_old[i]);
      if (Magnitude(q_new[i]) < q_cut) q_new[i] = Real_t(0.);
    }
  }
  Release(&pHalfStep);
}

static inline void SoundSpeed(Mesh& mesh, Real_t* vnewc, Real_t rho0, Real_t* enewc, Real_t* pnewc, Real_t* pbvc,
                              Real_t* bvc, Index_t len, Index_t* regElemList)
{
#pragma omp parallel for firstprivate(rho0)
  for (Index_t i = 0; i < len; ++i) {
    Index_t ielem = regElemList[i];
    Real_t ssTmp = (pbvc[i] * enewc[i] + vnewc[ielem] * vnewc[ielem] * bvc[i] * pnewc[i]) / rho0;
    if (ssTmp <= Real_t(.1111111e-36)) {
      ssTmp = Real_t(.3333333e-18);
    } else {
      ssTmp = Root(ssTmp);
    }
    mesh.ss(ielem) = ssTmp;
  }
}

static inline void StateOfRegion(Mesh& mesh, Real_t* vnewc, Int_t numElemReg, Index_t* regElemList, Int_t rep)
{
  Real_t e_cut = mesh.e_cut(), p_cut = mesh.p_cut(), q_cut = mesh.q_cut();
  Real_t eosvmax = mesh.eosvmax(), eosvmin = mesh.eosvmin();
  Real_t pmin = mesh.pmin(), emin = mesh.emin(), rho0 = mesh.refdens();

  Real_t* e_old = Allocate<Real_t>(numElemReg);
  Real_t* delvc = Allocate<Real_t>(numElemReg);
  Real_t* p_old = Allocate<Real_t>(numElemReg);
  Real_t* q_old = Allocate<Real_t>(numElemReg);
  Real_t* compression = Allocate<Real_t>(numElemReg);
  Real_t* compHalfStep = Allocate<Real_t>(numElemReg);
  Real_t* qq_old = Allocate<Real_t>(numElemReg);
  Real_t* ql_old = Allocate<Real_t>(numElemReg);
  Real_t* work = Allocate<Real_t>(numElemReg);
  Real_t* p_new = Allocate<Real_t>(numElemReg);
  Real_t* e_new = Allocate<Real_t>(numElemReg);
  Real_t* q_new = Allocate<Real_t>(numElemReg);
  Real_t* bvc = Allocate<Real_t>(numElemReg);
  Real_t* pbvc = Allocate<Real_t>(numElemReg);

  for (Int_t j = 0; j < rep; j++) {
#pragma omp parallel
    {
#pragma omp for nowait firstprivate(numElemReg)
      for (Index_t i = 0; i < numElemReg; ++i) {
        Index_t ielem = regElemList[i];
        e_old[i] = mesh.e(ielem);
        delvc[i] = mesh.delv(ielem);
        p_old[i] = mesh.p(ielem);
        q_old[i] = mesh.q(ielem);
        qq_old[i] = mesh.qq(ielem);
        ql_old[i] = mesh.ql(ielem);
      }
#pragma omp for firstprivate(numElemReg)
      for (Index_t i = 0; i < numElemReg; ++i) {
        Index_t ielem = regElemList[i];
        Real_t vchalf;
        compression[i] = Real_t(1.) / vnewc[ielem] - Real_t(1.);
        vchalf = vnewc[ielem] - delvc[i] * Real_t(.5);
        compHalfStep[i] = Real_t(1.) / vchalf - Real_t(1.);
      }
      if (eosvmin != Real_t(0.)) {
#pragma omp for nowait firstprivate(numElemReg, eosvmin)
        for (Index_t i = 0; i < numElemReg; ++i) {
          Index_t ielem = regElemList[i];
          if (vnewc[ielem] <= eosvmin) compHalfStep[i] = compression[i];
        }
      }
      if (eosvmax != Real_t(0.)) {
#pragma omp for nowait firstprivate(numElemReg, eosvmax)
        for (Index_t i = 0; i < numElemReg; ++i) {
          Index_t ielem = regElemList[i];
          if (vnewc[ielem] >= eosvmax) {
            p_old[i] = Real_t(0.);
            compression[i] = Real_t(0.);
            compHalfStep[i] = Real_t(0.);
          }
        }
      }
#pragma omp for nowait firstprivate(numElemReg)
      for (Index_t i = 0; i < numElemReg; ++i) {
        work[i] = Real_t(0.);
      }
    }
    Energy(p_new, e_new, q_new, bvc, pbvc, p_old, e_old, q_old, compression, compHalfStep, vnewc, work, delvc, pmin,
           p_cut, e_cut, q_cut, emin, qq_old, ql_old, rho0, eosvmax, numElemReg, regElemList);
  }

#pragma omp parallel for firstprivate(numElemReg)
  for (Index_t i = 0; i < numElemReg; ++i) {
    Index_t ielem = regElemList[i];
    mesh.p(ielem) = p_new[i];
    mesh.e(ielem) = e_new[i];
    mesh.q(ielem) = q_new[i];
  }
  SoundSpeed(mesh, vnewc, rho0, e_new, p_new, pbvc, bvc, numElemReg, regElemList);

  Release(&pbvc); Release(&bvc); Release(&q_new); Release(&e_new); Release(&p_new);
  Release(&work); Release(&ql_old); Release(&qq_old); Release(&compHalfStep); Release(&compression);
  Release(&q_old); Release(&p_old); Release(&delvc); Release(&e_old);
}

static inline void MaterialProperties(Mesh& mesh)
{
  Index_t numElem = mesh.numElem();
  if (numElem == 0)
    return;
  const Real_t eosvmin = mesh.eosvmin(), eosvmax = mesh.eosvmax();
  Real_t* vnewc = Allocate<Real_t>(numElem);

#pragma omp parallel
  {
#pragma omp for firstprivate(numElem)
    for (Index_t i = 0; i < numElem; ++i) {
      vnewc[i] = mesh.vnew(i);
    }
    if (eosvmin != Real_t(0.)) {
#pragma omp for nowait firstprivate(numElem, eosvmin)
      for (Index_t i = 0; i < numElem; ++i) {
        if (vnewc[i] < eosvmin) vnewc[i] = eosvmin;
      }
    }
    if (eosvmax != Real_t(0.)) {
#pragma omp for nowait firstprivate(numElem, eosvmax)
      for (Index_t i = 0; i < numElem; ++i) {
        if (vnewc[i] > eosvmax) vnewc[i] = eosvmax;
      }
    }
    // relative volumes within bounds
#pragma omp for nowait firstprivate(numElem, eosvmin, eosvmax)
    for (Index_t i = 0; i < numElem; ++i) {
      Real_t vc = mesh.v(i);
      if (eosvmin != Real_t(0.)) {
        if (vc < eosvmin) vc = eosvmin;
      }
      if (eosvmax != Real_t(0.)) {
        if (vc > eosvmax) vc = eosvmax;
      }
      if (vc <= 0.) {
        exit(VolumeFailure);
      }
    }
  }

  for (Int_t r = 0; r < mesh.numReg(); r++) {
    Index_t numElemReg = mesh.regElemSize(r);
    Index_t* regElemList = mesh.regElemlist(r);
    Int_t rep;
    if (r < mesh.numReg() / 2)  // the dear regions come last
      rep = 1;
    else
      rep = 1 + mesh.cost();
    StateOfRegion(mesh, vnewc, numElemReg, regElemList, rep);
  }
  Release(&vnewc);
}

static inline void UpdateVolumes(Mesh& mesh, Real_t v_cut, Index_t length)
{
  if (length != 0) {
#pragma omp parallel for firstprivate(length, v_cut)
    for (Index_t i = 0; i < length; ++i) {
      Real_t tmpV = mesh.vnew(i);
      if (Magnitude(tmpV - Real_t(1.0)) < v_cut) tmpV = Real_t(1.0);
      mesh.v(i) = tmpV;
    }
  }
}

static inline void LagrangeState(Mesh& mesh, Index_t numElem)
{
  LagrangeElements(mesh);
  Viscosity(mesh);
  MaterialProperties(mesh);
  UpdateVolumes(mesh, mesh.v_cut(), numElem);
}

// ---- the next step -------------------------------------------------------------------------------------------------

static inline void CourantConstraint(Mesh& mesh, Index_t length, Index_t* regElemlist, Real_t qqc, Real_t& dtcourant)
{
  Real_t qqc2 = Real_t(64.0) * qqc * qqc;
  Real_t dtcourant_tmp = dtcourant;
  Index_t courant_elem = -1;
  for (Index_t i = 0; i < length; ++i) {
    Index_t indx = regElemlist[i];
    Real_t dtf = mesh.ss(indx) * mesh.ss(indx);
    if (mesh.vdov(indx) < Real_t(0.)) {
      dtf = dtf + qqc2 * mesh.arealg(indx) * mesh.arealg(indx) * mesh.vdov(indx) * mesh.vdov(indx);
    }
    dtf = Root(dtf);
    dtf = mesh.arealg(indx) / dtf;
    if (mesh.vdov(indx) != Real_t(0.)) {
      if (dtf < dtcourant_tmp) {
        dtcourant_tmp = dtf;
        courant_elem = indx;
      }
    }
  }
  if (courant_elem != -1) {
    dtcourant = dtcourant_tmp;
  }
}

static inline void HydroConstraint(Mesh& mesh, Index_t length, Index_t* regElemlist, Real_t dvovmax, Real_t& dthydro)
{
  Real_t dthydro_tmp = dthydro;
  Index_t hydro_elem = -1;
  for (Index_t i = 0; i < length; ++i) {
    Index_t indx = regElemlist[i];
    if (mesh.vdov(indx) == Real_t(0.))
      continue;
    Real_t dtdvov = dvovmax / (Magnitude(mesh.vdov(indx)) + Real_t(1.e-20));
    if (dthydro_tmp > dtdvov) {
      dthydro_tmp = dtdvov;
      hydro_elem = indx;
    }
  }
  if (hydro_elem != -1) {
    dthydro = dthydro_tmp;
  }
}

static inline void TimeConstraints(Mesh& mesh)
{
  mesh.dtcourant() = 1.0e+20;
  mesh.dthydro() = 1.0e+20;
  for (Index_t r = 0; r < mesh.numReg(); ++r) {
    CourantConstraint(mesh, mesh.regElemSize(r), mesh.regElemlist(r), mesh.qqc(), mesh.dtcourant());
    HydroConstraint(mesh, mesh.regElemSize(r), mesh.regElemlist(r), mesh.dvovmax(), mesh.dthydro());
  }
}

static inline void TimeIncrement(Mesh& mesh)
{
  Real_t targetdt = mesh.stoptime() - mesh.time();
  if (mesh.cycle() != Int_t(0)) {
    Real_t olddt = mesh.deltatime();
    Real_t newdt = Real_t(1.0e+20);
    if (mesh.dtcourant() < newdt) newdt = mesh.dtcourant() / Real_t(2.0);
    if (mesh.dthydro() < newdt) newdt = mesh.dthydro() * Real_t(2.0) / Real_t(3.0);
    Real_t ratio = newdt / olddt;
    if (ratio >= Real_t(1.0)) {
      if (ratio < Real_t(1.1)) newdt = olddt;
      else if (ratio > Real_t(1.2)) newdt = olddt * Real_t(1.2);
    }
    if (newdt > mesh.dtmax()) newdt = mesh.dtmax();
    mesh.deltatime() = newdt;
  }
  if ((targetdt > mesh.deltatime()) && (targetdt < (Real_t(4.0) * mesh.deltatime() / Real_t(3.0)))) {
    targetdt = Real_t(2.0) * mesh.deltatime() / Real_t(3.0);
  }
  if (targetdt < mesh.deltatime()) mesh.deltatime() = targetdt;
  mesh.time() += mesh.deltatime();
  ++mesh.cycle();
}

static inline void LagrangeLeapFrog(Mesh& mesh)
{
  LagrangeNodal(mesh);
  LagrangeState(mesh, mesh.numElem());
  TimeConstraints(mesh);
}

// ---- what came out -------------------------------------------------------------------------------------------------

static Totals Summed(Mesh& mesh)
{
  Totals totals = {0.0, 0.0, 0.0};
  for (const Real_t& mass : mesh.masses())
    totals.mass += mass;
  const std::vector<Real_t>& energies = mesh.energies();
  for (std::vector<Real_t>::const_iterator it = energies.begin(); it != energies.end(); ++it)
    totals.internal += *it;
  auto kinetic = [&mesh](Index_t i) {
    return Real_t(0.5) * mesh.nodalMass(i) *
           (Square(mesh.xd(i)) + Square(mesh.yd(i)) + Square(mesh.zd(i)));
  };
  for (Index_t i = 0; i < mesh.numNode(); ++i)
    totals.kinetic += kinetic(i);
  return totals;
}

static Options Parsed(int argc, char** argv)
{
  Options options = {EDGE, 3, 4, false};
  if (argc > 1) options.edge = atoi(argv[1]);
  if (argc > 2) options.steps = atoi(argv[2]);
  if (argc > 3) options.regions = atoi(argv[3]);
  options.quiet = argc > 4 && !strcmp(argv[4], "-q");
  return options;
}

int main(int argc, char* argv[])
{
  Options options = Parsed(argc, argv);
  Mesh* mesh = new Mesh(options.edge, options.regions);
  while (mesh->time() < mesh->stoptime() && mesh->cycle() < options.steps) {
    TimeIncrement(*mesh);
    LagrangeLeapFrog(*mesh);
  }
  const Totals totals = Summed(*mesh);
  if (!options.quiet)
    printf("%d steps, %g mass, %g internal, %g kinetic\n", mesh->cycle(), totals.mass, totals.internal, totals.kinetic);
  delete mesh;
  return 0;
}
